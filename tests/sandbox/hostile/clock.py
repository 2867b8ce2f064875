"""Attacks by time: clocks that lie, alarms, waits, and work that no clock sees."""

from tests.sandbox.hostile.attack import SLEEP, SPIN, Attack

ATTACKS = [
    Attack(
        "clocks that stand still",
        "replaces Python's clocks by ones that never go on, and works without an end",
        answers={
            "softmax": f"""
                process_time = time.process_time
                time.process_time = time.monotonic = time.time = lambda: 0.0
                def softmax(scores, dim=-1):
                    while process_time() < {SPIN}: pass
            """
        },
        outcome="",
    ),
    Attack(
        "the watch of a check stopped",
        "finds the limit of time that its check is under, and calls it over",
        answers={
            "softmax": f"""
                import gc
                def softmax(scores, dim=-1):
                    for thing in gc.get_objects():
                        if type(thing).__name__ == "TimeLimit":
                            thing._closed.set(); thing.seconds = thing.wall_seconds = 1e9
                    while time.process_time() < {SPIN}: pass
            """
        },
        outcome="",
    ),
    Attack(
        "alarms without number",
        "sets a timer that rings a thousand times a second, and handlers that take long",
        answers={
            "softmax": """
                signal.signal(signal.SIGPROF, lambda *a: sum(range(100)))
                signal.signal(signal.SIGVTALRM, lambda *a: sum(range(100)))
                signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
                signal.setitimer(signal.ITIMER_VIRTUAL, 0.001, 0.001)
            """
        },
        outcome="",
    ),
    Attack(
        "a sleep",
        "sleeps in a cell, which takes no processor time",
        first=f"time.sleep({SLEEP})",
        told="in which nothing ran",
        outcome="graded",
    ),
    Attack(
        "a sleep in a coroutine",
        "awaits what never comes, in a cell and in a task that goes on behind it",
        answers={
            "softmax": f"""
                import asyncio
                async def again():
                    while True: await asyncio.sleep(0.01)
                task = asyncio.ensure_future(again())
                await asyncio.sleep({SLEEP})
            """
        },
        told="in which nothing ran",
        outcome="",
    ),
    Attack(
        "a loop of the kernel's",
        "keeps the kernel's own event loop busy behind the cells",
        first=f"""
            import asyncio
            async def again():
                while time.process_time() < {SPIN}: await asyncio.sleep(0)
            task = asyncio.ensure_future(again())
        """,
        earns=None,
        outcome="",
    ),
    Attack(
        "children that work in turns",
        "has children work for a moment each, and forgets them, so that nobody counts their time",
        first="""
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            for _ in range(24):
                for _ in range(2):
                    if os.fork() == 0:
                        while time.process_time() < 0.2: pass
                        os._exit(0)
                try: os.wait()
                except ChildProcessError: pass
        """,
        told="this cell took more than",
    ),
    Attack(
        "grandchildren that work",
        "leaves children in sessions of their own that work while the next cells run",
        first="""
            for _ in range(6):
                if os.fork() == 0:
                    os.setsid()
                    if os.fork() == 0:
                        while time.process_time() < 4: pass
                    os._exit(0)
        """,
        last="time.sleep(9)",
        told="took more than",
        outcome="",
    ),
    Attack(
        "a search without an end",
        "spends its time in C, in a regular expression that tries everything",
        answers={
            "softmax": """
                import re
                def softmax(scores, dim=-1): return re.match("(a+)+$", "a" * 60 + "b")
            """
        },
        outcome="",
    ),
    Attack(
        "a number without an end",
        "spends its time in C, in numbers of millions of digits",
        answers={
            "softmax": "def softmax(scores, dim=-1): return len(str(3 ** 8_000_000)) * scores"
        },
        outcome="",
    ),
    Attack(
        "a wait that can't be interrupted",
        "waits for a lock, swallows the interrupt, and waits again",
        answers={
            "softmax": f"""
                import threading
                lock = threading.Lock(); lock.acquire()
                while time.process_time() < {SPIN}:
                    try: lock.acquire()
                    except KeyboardInterrupt: pass
            """
        },
        told="could not be interrupted",
        outcome="not graded",
    ),
    Attack(
        "time of another zone",
        "changes the time zone, the locale and the alarm of whoever comes next",
        first="""
            import locale
            os.environ["TZ"] = "X" * 9999; time.tzset()
            attempt(lambda: locale.setlocale(locale.LC_ALL, "de_DE.UTF-8"))
            signal.alarm(5); os.umask(0o777)
        """,
        told="held: ",
        outcome="graded",
    ),
]
