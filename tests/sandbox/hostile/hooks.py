"""Attacks by Python's own hooks: what runs when something else is meant to run."""

from tests.sandbox.hostile.attack import POINTS, Attack

ALL = tuple(POINTS)
WRONG = {"softmax": "def softmax(scores, dim=-1): return scores"}


def _hook(name: str, tries: str, first: str, **facts: object) -> Attack:
    """Make an attack that answers one exercise with its input, and hopes for the hook."""
    return Attack(name, tries, first=first, **({"answers": WRONG} | facts))


def _raises(name: str, tries: str, code: str, **facts: object) -> Attack:
    """Make an attack whose answer ends in an exception of its own, made by `error()`."""
    answer = f"{code}\ndef softmax(scores, dim=-1): raise error()"
    return Attack(name, tries, answers={"softmax": answer}, **({"outcome": "graded"} | facts))


ATTACKS = [
    _hook(
        "a tracer",
        "traces every call, changes local variables and looks for what is expected",
        """
            seen = set()
            def trace(frame, event, argument):
                seen.add(frame.f_code.co_name)
                for name in list(frame.f_locals):
                    if name in ("forbidden", "problem", "wrong", "changed"):
                        frame.f_locals[name] = None
                    if type(frame.f_locals[name]).__name__ in ("AnswerKey", "CaseKey"):
                        print("HELD NOT:", name)
                return trace
        """,
        answers={
            "softmax": "def softmax(scores, dim=-1): return scores\nsys.settrace(trace)",
        },
        last="sys.settrace(None); print('traced', 'collect' in seen)",
        honest=("query_scores",),
        earns=None,
        told="traced",
    ),
    _hook(
        "a profiler that raises",
        "raises in every call that the grader makes, as a profiler",
        """
            def profile(frame, event, argument):
                if frame.f_code.co_name in ("pack", "collect", "to_tree", "digests"):
                    raise SystemError("profiled")
        """,
        answers={
            "softmax": "import threading\nthreading.setprofile(profile)\nsys.setprofile(profile)"
        },
        earns=(),
        honest=(),
    ),
    _hook(
        "an audit hook",
        "forbids Python to open, compile and import from now on, which can't be taken back",
        """
            armed = []
            def audit(event, arguments):
                if armed and event.split(".")[0] in ("open", "socket", "subprocess"):
                    raise PermissionError(event)
            sys.addaudithook(audit)
        """,
        answers={"softmax": "armed.append(1)"},
        earns=None,
    ),
    _hook(
        "an importer",
        "offers modules that the grader might import, the judge among them",
        """
            import importlib.abc, importlib.machinery
            class Importer(importlib.abc.MetaPathFinder, importlib.abc.Loader):
                def find_spec(self, name, path=None, target=None):
                    if name.startswith(("autograder", "inside", "expected")):
                        return importlib.machinery.ModuleSpec(name, self, is_package=True)
                def create_module(self, spec): return None
                def exec_module(self, module): module.judge = module.equal = lambda *a: True
            sys.meta_path.insert(0, Importer())
            import autograder.judging.judge
            print(autograder.judging.judge.judge())
        """,
        told="True",
    ),
    _hook(
        "builtins that lie",
        "replaces all, any and sorted by functions that are content",
        """
            import builtins
            kept = builtins.all, builtins.any, builtins.sorted
            def lie():
                builtins.all = builtins.any = lambda *a: True
                builtins.sorted = lambda *a, **k: []
        """,
        answers={"softmax": WRONG["softmax"] + "\nlie()"},
        last="builtins.all, builtins.any, builtins.sorted = kept",
        earns=None,
    ),
    _hook(
        "json that lies",
        "replaces json, base64, hashlib and struct in the modules that send answers",
        """
            import base64, hashlib, json
            json.dumps = lambda *a, **k: "true"
            base64.b64encode = lambda *a, **k: b"QUxM"
            hashlib.blake2b = lambda *a, **k: None
        """,
        earns=(),
        told="",
    ),
    _hook(
        "hooks for errors",
        "replaces what shows errors, values and breakpoints, and makes errors of its own",
        """
            def quiet(*a): os.write(2, b"quiet")
            sys.excepthook = sys.unraisablehook = sys.displayhook = sys.breakpointhook = quiet
            get_ipython().showtraceback = get_ipython().showsyntaxerror = quiet
            get_ipython().set_custom_exc((BaseException,), lambda *a, **k: None)
        """,
        answers={"softmax": "1 / 0"},
        outcome="graded",
    ),
    _hook(
        "hooks of the shell",
        "answers in IPython's events, before and after each cell",
        """
            def again(*a):
                from IPython.display import display
                display({"text/plain": "5"}, raw=True)
            for event in ("pre_run_cell", "post_run_cell", "pre_execute", "post_execute"):
                get_ipython().events.register(event, again)
        """,
        outcome="graded",
    ),
    _hook(
        "hooks of the display",
        "replaces what sends outputs, and adds points to all that is shown",
        """
            publisher = type(get_ipython().display_pub)
            honest_publish = publisher.publish
            def publish(self, data, metadata=None, **more):
                verdict = {"attention_verdict": {"points": 5, "max_points": 5}}
                honest_publish(self, data | {"text/html": "<b>5 points</b>"}, verdict, **more)
            publisher.publish = publish
        """,
        outcome="graded",
    ),
    _hook(
        "display of its own",
        "shows objects that say themselves how they are shown: as answers, as nothing, as errors",
        """
            from IPython.display import display
            from autograder.asking import MIME
            class Odd:
                def __init__(self, shown): self.shown = shown
                def _repr_mimebundle_(self, **k): return self.shown
                def _ipython_display_(self): raise SystemExit if self.shown is None else TypeError
            for shown in ({MIME: "AAAA"}, ({MIME: b"x"}, {MIME: 5}), [1], {"text/html": 5}, None):
                attempt(lambda: 1 / (display(Odd(shown)) or 0))
        """,
        told="held: ",
    ),
    _hook(
        "magics of its own",
        "registers magics, aliases and macros under the names that the notebook uses",
        """
            from IPython.core.magic import register_cell_magic, register_line_magic
            register_line_magic("check")(lambda line: 5)
            register_cell_magic("check")(lambda line, cell: 5)
            get_ipython().run_line_magic("autocall", "2")
            get_ipython().run_line_magic("alias", "check echo 5")
        """,
        outcome="graded",
    ),
    _hook(
        "the namespace guarded",
        "gives the notebook's names a mapping that returns what the attacker wants",
        """
            class Names(dict):
                def __setitem__(self, name, value):
                    super().__setitem__(name, (lambda *a: 5) if name == "check" else value)
                def __missing__(self, name): return lambda *a, **k: 5
            get_ipython().user_ns = Names(get_ipython().user_ns)
        """,
        earns=None,
        outcome="graded",
    ),
    _hook(
        "a garbage collector that collects",
        "runs code whenever garbage is collected, and makes much of it",
        """
            import gc
            count = [0]
            def collected(phase, about):
                count[0] += 1
                if count[0] < 300: [[] for _ in range(1000)]
            gc.callbacks.append(collected)
            gc.set_threshold(1, 1, 1)
        """,
        last="gc.set_threshold(700); print(count[0] > 10)",
        told="True",
    ),
    _hook(
        "objects that come back",
        "makes objects that their own finalizers bring back, ever again",
        """
            class Phoenix:
                alive = []
                def __del__(self):
                    if len(Phoenix.alive) < 10_000: Phoenix.alive.append(Phoenix())
            Phoenix()
            def rise():
                while len(Phoenix.alive) < 10_000: Phoenix.alive.append(Phoenix())
            rise(); Phoenix.alive.clear(); print(len(Phoenix.alive))
        """,
        outcome="graded",
    ),
    Attack(
        "a watchdog in C",
        "has Python's fault handler end the kernel from a thread of its own",
        answers={
            "softmax": """
                import faulthandler
                faulthandler.dump_traceback_later(0.2, exit=True, file=open("/tmp/x", "w"))
                time.sleep(3)
            """
        },
        told="its kernel died",
        outcome="not graded",
    ),
    Attack(
        "threads that never yield",
        "sets the interpreter's switches so that no other thread gets a turn",
        first="""
            import threading
            sys.setswitchinterval(1000)
            stop = []
            def spin():
                end = time.monotonic() + 1
                while time.monotonic() < end: pass
            threading.Thread(target=spin).start()
        """,
        outcome="",
    ),
    Attack(
        "recursion in C",
        "lifts Python's limit on recursion and runs out of stack",
        answers={
            "softmax": """
                sys.setrecursionlimit(1 << 30)
                class Deep:
                    def __getattr__(self, name): return getattr(self, name + "x")
                def softmax(scores, dim=-1): return hasattr(Deep(), "a")
            """
        },
        outcome="",
    ),
    Attack(
        "bytecode of its own",
        "answers with functions whose bytecode is random, endless or jumps out",
        answers={
            "softmax": """
                def softmax(scores, dim=-1): return scores
                softmax.__code__ = softmax.__code__.replace(co_code=bytes(range(2, 202, 2)) * 9)
            """
        },
        outcome="",
    ),
    Attack(
        "memory written by ctypes",
        "overwrites Python's own objects: small integers, None, and the code of torch",
        answers={
            "softmax": """
                place = id(3) + 24
                ctypes.memset(place, 7, 4)
                ctypes.memset(id(None), 0, 8)
            """
        },
        outcome="",
    ),
    Attack(
        "standard streams of its own",
        "replaces Python's standard streams by objects that raise, lie and never end",
        first="""
            class Stream:
                encoding = "\\ud800"
                def write(self, text): raise SystemExit(text)
                def flush(self): raise KeyboardInterrupt
                def __getattr__(self, name): return self
                def __call__(self, *a): return self
        """,
        answers={"softmax": "sys.stdout = sys.stderr = sys.__stdout__ = Stream()"},
        last="sys.stdout = sys.__stderr__",
        earns=None,
    ),
    Attack(
        "all descriptors closed",
        "closes every open file of its kernel, the sockets to the supervisor too",
        answers={"softmax": "os.closerange(0, 256)"},
        told="its kernel|took more than",
        outcome="not graded",
    ),
    Attack(
        "descriptors exchanged",
        "puts its own files in place of the kernel's sockets, one by one",
        answers={
            "softmax": """
                file = os.open("/tmp/x", os.O_CREAT | os.O_RDWR)
                for number in range(3, 64):
                    if number != file: os.dup2(file, number)
            """
        },
        told="its kernel|took more than",
        outcome="not graded",
    ),
    _raises(
        "an error that can't be told",
        "raises an exception whose text, name and traceback raise others",
        """
        class error(Exception):
            def __str__(self): raise error()
            __repr__ = __str__
            __notes__ = property(__str__)
        """,
    ),
    _raises(
        "an error of 5 MB",
        "raises an exception whose text is far longer than what is shown",
        "def error(): return ValueError('x' * 5_000_000)",
    ),
    _raises(
        "errors in errors",
        "raises groups of groups of exceptions, each the cause of the next",
        """
        def error():
            found = ValueError("x")
            for _ in range(300):
                outer = ExceptionGroup("group", [found])
                outer.__cause__ = found
                found = outer
            return found
        """,
    ),
    _raises(
        "errors in a circle",
        "raises exceptions that are each other's cause",
        """
        def error():
            one, other = ValueError("one"), ValueError("other")
            one.__cause__, other.__cause__ = other, one
            one.__context__, other.__context__ = other, one
            return one
        """,
    ),
    _raises(
        "errors that end everything",
        "raises what ends programs, generators and tests, not only functions",
        """
        kinds = iter([SystemExit, GeneratorExit, StopIteration, StopAsyncIteration, BaseException])
        def error(): return next(kinds, SystemExit)("bye")
        """,
    ),
    _raises(
        "an error that is interrupted",
        "raises KeyboardInterrupt, as if a person had stopped the check",
        "def error(): return KeyboardInterrupt()",
    ),
    _raises(
        "an error of the grader's",
        "raises the grader's own exceptions: out of time, a wrong result, a forbidden call",
        """
        from autograder.asking.clock import OutOfTime
        from autograder.asking.guard import ForbiddenCall
        from autograder.asking.returned import WrongResult
        kinds = [OutOfTime(), ForbiddenCall("<b>"), WrongResult("no kind", "<b>" * 9999)]
        def error(): return kinds[int(time.time() * 1000) % 3]
        """,
        outcome="",
    ),
]
