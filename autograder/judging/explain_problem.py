"""Sentences for calls that returned no tensors."""

from autograder.asking.problem import Instead, Place, Problem, ProblemKind
from autograder.judging.explain_error import explain_error

# {exercise} is the exercise's name, {detail} the problem's; {short} is that without a period.
SENTENCES = {
    ProblemKind.UNDEFINED: (
        "There is no `{exercise}`: the cell that should define it did not run to its end."
    ),
    ProblemKind.CHECK_TIMED_OUT: "The check of `{exercise}` took too long: {detail}.",
    ProblemKind.CHECK_WAITED: "The check of `{exercise}` took too long: {detail}.",
    ProblemKind.NOT_RUN: "The check of `{exercise}` did not run: {short}.",
    ProblemKind.NO_ANSWER: (
        "No answer came in for `{exercise}`: its check did not run to the end."
    ),
    ProblemKind.UNREADABLE: "What came in for `{exercise}` can't be read as an answer ({detail}).",
    ProblemKind.NOT_JUDGED: "The answer to `{exercise}` could not be judged ({detail}).",
    ProblemKind.NOT_ANSWERED: (
        "`{exercise}` uses `{detail}`, which is not answered yet: write `{detail}` first."
    ),
    ProblemKind.STUB_BELOW: (
        "Your code reaches the stub's `raise NotImplementedError()`. Delete that line, and return "
        "your result."
    ),
    ProblemKind.RAISED: "The code stopped with {detail}.",
    ProblemKind.FORBIDDEN: (
        "Write `{exercise}` yourself in this exercise, without torch's `{detail}`."
    ),
    ProblemKind.TIME: "No answer after {detail} seconds of computing: does a loop never end?",
    ProblemKind.WAITING: (
        "No answer after {detail} seconds, most of them spent waiting: does the code sleep, or ask "
        "for input?"
    ),
    ProblemKind.RECURSION: "`{exercise}` calls itself without end.",
    ProblemKind.MEMORY: "The computer's memory ran out: is a tensor far larger than its input?",
    ProblemKind.ARGUMENTS: (
        "`{exercise}` takes {detail}. Restore the arguments of the first line."
    ),
    ProblemKind.METHOD: "`{exercise}` should have a method `{detail}`; there is none.",
    ProblemKind.CLASS: (
        "`{exercise}` should be a class that inherits from `nn.Module`; it is {detail}."
    ),
    ProblemKind.CONSTRUCTOR: (
        "The constructor of `{exercise}` takes {detail}. Restore its first line."
    ),
    ProblemKind.NO_SELF: (
        "A method's first argument is `self`, and your `{detail}` lacks it: "
        "`def {detail}(self, …)`."
    ),
    ProblemKind.PLAIN_PARAMETER: (
        "`self.{detail}` is a plain tensor, so no optimizer will find it. Wrap it: "
        "`nn.Parameter(…)`."
    ),
    ProblemKind.PARAMETERS: "The parameters don't match: `{exercise}` {detail}.",
    ProblemKind.PARAMETER_SHAPE: "In `{exercise}` the parameter {detail}.",
    ProblemKind.SAME_PARAMETER: (
        "{detail}: one parameter has two names. Is a module in a list more than once, as in "
        "`[head] * n_heads`, or shared by two parts? Make a new one for each place."
    ),
    ProblemKind.TYPE: "`{exercise}` returned {detail}; it should return a torch tensor.",
    ProblemKind.PLAIN: (
        "`{exercise}` returned {detail}; it should return a plain number (or a plain True or "
        "False)."
    ),
    ProblemKind.MODULE: "`{exercise}` returned {detail}; it should return a module.",
    ProblemKind.COUNT: "`{exercise}` returned {detail}. Return them together, in this order.",
    ProblemKind.CHOICE: "`{exercise}` returned {detail}.",
    ProblemKind.KEYS: "`{exercise}` returned {detail}.",
    ProblemKind.SIZE: (
        "`{exercise}` returned a tensor of shape {detail}, far too large for this input."
    ),
    ProblemKind.GRAPH: (
        "`{exercise}` returned a tensor that holds the graph of all it was made from. Return a "
        "number: `.item()` gives it."
    ),
    ProblemKind.ATTRIBUTE: (
        "`{exercise}` should keep `self.{detail}`; after the call there is none."
    ),
    ProblemKind.OTHER_ATTRIBUTE: "{detail}. Keep it as it was given.",
    ProblemKind.ATTACHED: (
        "`self.{detail}` still holds the graph, and with it the memory of the call. Keep "
        "`{detail}.detach()`."
    ),
    ProblemKind.MODE: (
        "The call leaves the model in {detail} mode, and found it in the other. Save "
        "`self.training` first, and restore it with `self.train(…)`."
    ),
    ProblemKind.PART_MODE: (
        "The call changes whether `{detail}` is in train or in evaluation mode. Leave that to "
        "whoever calls `train()` and `eval()`."
    ),
    ProblemKind.PART_REPLACED: (
        "Each call makes a new `{detail}`, with other numbers. Make it once, in `__init__`."
    ),
    ProblemKind.SETTING: "The call changes a setting of torch.",
    ProblemKind.SHARED: (
        "{detail}: change one and the other changes. Copy the numbers, with `copy_`."
    ),
    ProblemKind.KEPT_ON_CLASS: (
        "All caches share one `{detail}`, since Python makes what stands in the class, or as an "
        "argument's default, only once. Make it in `__init__`."
    ),
    ProblemKind.REQUIRES_GRADIENTS: (
        "The call makes its input `{detail}` require gradients. Leave it as it was."
    ),
    ProblemKind.FROZEN: (
        "After the call, the parameter `{detail}` can't be trained: it no longer requires "
        "gradients, or is no longer a parameter of its own but the result of a computation. Copy "
        "into it under `torch.no_grad()`, and change nothing else."
    ),
    ProblemKind.NEVER_TRAINED: (
        "The parameter `{detail}` can't be trained: it is made with `requires_grad=False`. Leave "
        "that out."
    ),
    ProblemKind.PARAMETER_CHANGED: (
        "The call changes the parameter `{detail}`, so the next call gives another answer. Only "
        "an optimizer should change parameters."
    ),
    ProblemKind.ARGUMENT_CHANGED: (
        "The call changes {detail}, which belongs to the caller and should be as before. Change "
        "a copy (`copy.deepcopy`), or put it back."
    ),
    ProblemKind.OTHER_PARAMETERS: (
        "After the call, {detail}. Write into the parameters that are there, and leave the layers."
    ),
    ProblemKind.NOT_LOADED: (
        "Saved and loaded again (`load_state_dict(state_dict())`), your `{exercise}` is no longer "
        "the same: {detail}. What changes from call to call is a plain attribute, not a parameter "
        "or a buffer."
    ),
    ProblemKind.OTHER_NAMES: (
        "A file with the right names can't be loaded into your `{exercise}`: {detail}. Its state "
        "dict may have these names and no more: no buffers, and no second name for a layer."
    ),
    ProblemKind.DETACHED: (
        "No gradient flows back from `{detail}`. Is there a `detach()`, `.data`, `.item()`, "
        "`torch.tensor(…)`, NumPy or `no_grad` on the way?"
    ),
    ProblemKind.NAN_ON_THE_WAY: (
        "The gradient is right in the end, but on the way back `{detail}` makes a NaN, which a "
        "later step wipes away. Don't let NaN arise at all."
    ),
}
STUB = "`{exercise}` is not answered yet. Replace `raise NotImplementedError()`."
# By the global setting that a call has changed for all later code.
SETTINGS = {
    "gradients": (
        "The call switches gradients off or on, and leaves them so. Use `with torch.no_grad():`, "
        "which puts them back as they were."
    ),
    "dtype": (
        "The call changes torch's default dtype for the whole notebook. Give the tensors that you "
        "make their own: `dtype=x.dtype`."
    ),
    "seed": (
        "The call sets torch's seed, so the notebook draws the same random numbers after each "
        "call. Leave `manual_seed` to the caller."
    ),
}
CURES = {
    Instead.NOTHING: " Is a `return` missing?",
    Instead.UNREACHED: " Here, it reached no `return` that has a value.",
    Instead.NUMPY: " Stay with torch's own functions: they keep the gradients.",
    Instead.TUPLE: " Return only the one that the exercise asks for.",
    Instead.TENSORS: (
        " `torch.stack` makes one tensor of them along a new dimension, `torch.cat` along one that "
        "they have. Both keep the gradients."
    ),
    Instead.NUMBERS: " `torch.tensor` makes one of them.",
    Instead.MATH: " `torch.exp` takes a whole tensor, and keeps the path.",
    Instead.COPY: " `torch.stack` makes one tensor of several, and keeps the path.",
}
CUT = (
    "No gradient flows back from `{detail}`: line {line} {of}(`{code}`) forgets where its numbers "
    "came from, and training needs to know."
)
NOTHING = (Instead.NOTHING, Instead.UNREACHED)
STAR = " `*` multiplies element by element; `@` is the matrix product."
OWN = " If that is an attribute of your own, `__init__` has to make it."
ITEM = " `.item()` turns a tensor into one."


def explain_problem(problem: Problem, exercise: str, sizes: dict[str, int] | None = None) -> str:
    """Explain, in a sentence or two, why a call returned nothing to compare.

    sizes: the size of each named dimension in the case.
    """
    if _is_own_raise(problem):
        return (
            "Your own `raise` stopped the code, but these sizes are fine."
            f"{happened_at(problem)} Is its condition the wrong way around?"
        )
    if problem.kind == ProblemKind.DETACHED and problem.place:
        return _cut(problem.detail, problem.place) + _cure(problem)
    said = _sentence(problem, exercise) + _cure(problem) + happened_at(problem)
    meaning = explain_error(problem.detail, sizes or {}) if problem.exception else None
    if meaning is None:
        return said
    if meaning.rule.alone:
        return meaning.sentence + happened_at(problem)
    more = _star(problem) if meaning.rule.by_element else _own(problem, exercise)
    return f"{meaning.sentence}{more} {said}"


def _cut(output: str, place: Place) -> str:
    """Say which line ends the path of the gradient."""
    of = f"of your `{place.function}` " if place.function else ""
    return CUT.format(detail=output, line=place.line, of=of, code=place.code)


def _star(problem: Problem) -> str:
    """Tell the two products apart, if all that can have failed in its line is the one by number."""
    code = problem.place.code if problem.place else ""
    return STAR if "*" in code and not any(other in code for other in ("@", " + ", " - ")) else ""


def _own(problem: Problem, exercise: str) -> str:
    """Say where an attribute is made, if it is the learner's own object that lacks it."""
    return OWN if f"'{exercise}' object has no attribute" in problem.detail else ""


def is_explained(problem: Problem) -> bool:
    """Whether `explain_problem` says more than the exception's own message."""
    if not problem.exception or _is_own_raise(problem):
        return True
    return explain_error(problem.detail, {}) is not None


def _is_own_raise(problem: Problem) -> bool:
    """Whether a `raise` in the answer itself ended it."""
    return bool(problem.exception and problem.place and problem.place.raises)


def _sentence(problem: Problem, exercise: str) -> str:
    sentence = SENTENCES[problem.kind]
    if problem.kind == ProblemKind.NOT_ANSWERED and problem.detail == exercise:
        sentence = STUB
    if problem.kind == ProblemKind.SETTING:
        sentence = SETTINGS.get(problem.detail, sentence)
    short = problem.detail.rstrip(".")
    return sentence.format(exercise=exercise, detail=problem.detail, short=short)


def _cure(problem: Problem) -> str:
    if problem.kind == ProblemKind.PLAIN and problem.instead not in NOTHING:
        return ITEM
    return CURES.get(problem.instead, "")


def happened_at(problem: Problem) -> str:
    """Say on which line of the learner's code it happened; "" if that is not known."""
    if not problem.place:
        return ""
    at = "" if problem.place.function else "at "
    return f" It happened {at}{problem.place}".rstrip(":") + "."
