"""Sentences for exceptions: what the message of Python or torch means in this exercise."""

import re
from dataclasses import dataclass

from autograder.judging.case_words import names_by_size


@dataclass(frozen=True)
class ErrorRule:
    """What a message means: a pattern for the message, and the sentence.

    In the sentence, `{0}` is the pattern's first group, and `{0:size}` adds the dimension's name to
    it if it is a size ("4 (n_key)") or a shape ("(n_query=3, n_key=4)").

    alone: whether the message itself is left out, since it advises something else.
    by_element: whether an operation element by element meets two tensors that don't fit.
    """

    pattern: str
    say: str
    alone: bool = False
    by_element: bool = False


@dataclass(frozen=True)
class Meaning:
    """What a message means, and the rule that says so."""

    sentence: str
    rule: ErrorRule


def _misfit(sizes: str = "()", cure: str = "") -> ErrorRule:
    """Return the rule for a matrix product of matrices that don't fit.

    sizes: a pattern for the sizes in which this is the cure. It has one group.
    """
    told = (
        "These two don't fit in a matrix product: {1:size} and {2:size}. The last dimension of the "
        "left one meets the second to last of the right one, so the two have to be the same."
    )
    return ErrorRule(
        rf"mat1 and mat2 shapes cannot be multiplied \({sizes}(\d+x\d+) and (\d+x\d+)\)",
        f"{told} {cure}".rstrip(),
    )


# What learners know by these names from mathematics or other languages.
TORCHS = (
    "exp|log|sqrt|dot|zeros|ones|eye|arange|stack|cat|einsum|matmul|randn|rand|tensor|sin|"
    "cos|outer|where|mean|tril|triu|argmax|amax|transpose"
)

LINEAR = (
    "A linear layer for {0:size} features got a tensor with {1:size}. Is one of the two a number "
    "in your code? If not, is it the right tensor for this layer?"
)

RULES = (
    ErrorRule(
        r"Linear\((\d+), \d+\): mat1 and mat2 shapes cannot be multiplied \(\d+x(\d+) and",
        LINEAR,
    ),
    ErrorRule(
        r"Linear\((\d+), \d+\): Expected size for first two dimensions of batch2 tensor to be: "
        r"\[\d+, (\d+)\]",
        LINEAR,
    ),
    _misfit(
        r"(?=(\d+)x\1 and \d+x\1\))",
        "They fit the other way around, and with the right one transposed.",
    ),
    _misfit(
        r"(?=\d+x(\d+) and \d+x\1\))",
        "They fit if you transpose the right one, or leave out its transpose if it has one.",
    ),
    _misfit(
        r"(?=(\d+)x\d+ and \d+x\1\))",
        "They fit the other way around: what is on the right comes first.",
    ),
    _misfit(
        r"(?=(\d+)x\d+ and \1x)",
        "They fit if you transpose the left one, or leave out its transpose if it has one.",
    ),
    _misfit(),
    ErrorRule(
        r"1D tensors expected, but got (\d)D and (\d)D tensors",
        "`dot` takes two vectors, and these have {0} and {1} dimensions. Take one row at a time, "
        "or use `@`, the matrix product.",
    ),
    ErrorRule(
        r"outer: Expected 1-D argument",
        "`outer` takes two vectors. It multiplies each number of one by each number of the other, "
        "and adds nothing up. `@` is the product that does.",
    ),
    ErrorRule(
        r"stack expects each tensor to be equal size, but got \[(.*?)\] at entry 0 and \[(.*?)\]",
        "`torch.stack` takes tensors of the same shape only, and these have ({0}) and ({1}).",
    ),
    ErrorRule(
        r"zero-dimensional tensor .*cannot be concatenated",
        "`torch.cat` joins tensors along a dimension that they have, and single numbers have none. "
        "`torch.stack` makes one tensor of single numbers, too.",
    ),
    ErrorRule(
        r"[Tt]ensor on device \w+ is not on the expected device|meta tensor",
        "A tensor from `__init__` meets the others here, and it has no numbers: the model was made "
        "on the device *meta*, and only parameters were loaded. Make it in `forward`.",
    ),
    ErrorRule(
        r"'(?:builtin_function_or_method|method)'(?! object is not callable)",
        "A function is used here without being called: `()` is missing after its name.",
    ),
    ErrorRule(
        r"inconsistent tensor size, expected tensor \[(\d+)\] and src \[(\d+)\]",
        "A product of two vectors needs the same length: one has {0:size}, the other {1:size}.",
    ),
    ErrorRule(
        r"size mismatch, got input \(\d+\), mat \((?=(\d+)x)(\d+x\d+)\), vec \(\1\)",
        "A matrix of {1:size} can't be multiplied by a vector of {0:size} on its right. They fit "
        "if the vector comes first, or if you transpose the matrix, or leave out its transpose.",
    ),
    ErrorRule(
        r"size mismatch, got input \(\d+\), mat \((\d+x\d+)\), vec \((\d+)\)",
        "A matrix of {0:size} can't be multiplied by a vector of {1:size}.",
    ),
    ErrorRule(
        r"Expected size for first two dimensions of batch2 tensor to be: \[(\d+), \d+\] but got: "
        r"\[(?!\1,)(\d+), \d+\]",
        "In a batch of matrix products, the left stack has {0:size} matrices and the right one "
        "{1:size}. The two have to match. Is one of these sizes a number in your code?",
    ),
    ErrorRule(
        r"Expected size for first two dimensions of batch2 tensor to be: \[(\d+), (\d+)\] but got: "
        r"\[(\d+), (\d+)\]",
        "These two don't fit in a batch of matrix products: the left one's last dimension is "
        "{1:size}, and the right one's second to last is {3:size}. They have to be the same. Is "
        "one of them made from the wrong tensor, or not transposed?",
    ),
    ErrorRule(
        r"The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at "
        r"non-singleton dimension (\d+)",
        "The sizes of these two tensors differ in dimension {2}: {0:size} and {1:size}.",
        by_element=True,
    ),
    ErrorRule(
        r"The expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)",
        "A tensor can't take this shape: a dimension of {1:size} should become {0:size}.",
    ),
    ErrorRule(
        r"shape '\[(.*)\]' is invalid for input of size (\d+)",
        "A tensor of {1} numbers doesn't fit into the new shape, ({0}).",
    ),
    ErrorRule(
        r"view size is not compatible",
        "`view` needs numbers that lie side by side in memory, and after a transpose or a slice "
        "they don't. Check that the dimensions are in the order you mean before you flatten any; "
        "then use `reshape`.",
    ),
    ErrorRule(
        r"Dimension out of range \(expected to be in range of \[-(\d+), \d+\], but got (-?\d+)\)",
        "The code uses dimension {1} of a tensor with {0}. Counting from the end (-1, -2) is "
        "right with and without a batch. Or did something, such as `squeeze`, take one away?",
    ),
    ErrorRule(
        r"index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)",
        "There is no index {0} in dimension {1}: its size is {2:size}, and counting starts at 0.",
    ),
    ErrorRule(
        r"too many indices for tensor of dimension (\d+)",
        "There are more indices here than the tensor has dimensions, {0}.",
    ),
    ErrorRule(
        r"too many values to unpack \(expected (\d+)",
        "The left side of `=` has {0} names, and there are more values than that. If they're the "
        "sizes of a shape, does it have a batch here?",
    ),
    ErrorRule(
        r"not enough values to unpack \(expected (\d+), got (\d+)\)",
        "The left side of `=` has {0} names, and fewer values, {1}, are on its right. If they're "
        "the sizes of a shape, does it lack a batch here?",
    ),
    ErrorRule(
        r"einsum\(\): the number of subscripts in the equation \((\d+)\) does not match the number "
        r"of dimensions \((\d+)\) for operand (\d+)",
        "einsum: operand {2} has {1} dimensions, and the equation gives it {0} letters. `...` "
        "stands for any dimensions in front.",
    ),
    ErrorRule(
        r"einsum\(\): subscript (\w) has size (\d+) for operand (\d+) which does not broadcast "
        r"with previously seen size (\d+)",
        "einsum: the letter {0} has two sizes at once: {3:size} and, in operand {2}, {1:size}. A "
        "letter belongs to one dimension.",
    ),
    ErrorRule(
        r"einsum\(\): (fewer|more) operands were provided than specified",
        "einsum: the equation and the call differ in the number of operands; commas separate them.",
    ),
    ErrorRule(
        r"einsum\(\): output subscript (\w) (.*)",
        "einsum: the letter {0} of the output {1}.",
    ),
    ErrorRule(
        r"name '(np|numpy)' is not defined",
        "This notebook doesn't use NumPy. Stay with torch: its functions have nearly the same "
        "names, and keep the gradients.",
        alone=True,
    ),
    ErrorRule(
        r"name '(math|random|copy|F|einops)' is not defined",
        "`{0}` is a module that this notebook has not imported. Import it in a cell above.",
    ),
    ErrorRule(
        r"name '(true|false|none)' is not defined",
        "Python writes `True`, `False` and `None` with a capital letter.",
    ),
    ErrorRule(
        rf"name '({TORCHS})' is not defined",
        "Python itself has no `{0}`; torch does. Write `torch.{0}`.",
    ),
    ErrorRule(
        r"name '(\w+)' is not defined",
        "There is no `{0}` here. Is it misspelled, made in another function, or an attribute that "
        "needs `self.`?",
    ),
    ErrorRule(
        r"cannot access local variable '(\w+)'",
        "`{0}` is used before it has a value.",
    ),
    ErrorRule(
        r'Module \[(\w+)\] is missing the required "forward" function',
        "`{0}` has no `forward`. Is it misspelled, or indented so that it is part of `__init__`?",
    ),
    ErrorRule(
        r"Layer (\w+) does not have a `call\(\)` method",
        "`{0}` has no `call`. Is it misspelled, or indented so that it is part of `__init__`?",
    ),
    ErrorRule(
        r"bitwise_xor|unsupported operand type\(s\) for \^",
        "In Python, `^` isn't a power; `**` is.",
    ),
    ErrorRule(
        r"not implemented for '(Long|Int|Bool|Byte)'",
        "torch can do this only with floating-point numbers, and these are of type {0}.",
    ),
    ErrorRule(
        r"cannot assign \w+ before Module.__init__\(\) call",
        "`super().__init__()` has to come first in `__init__`, before the layers.",
    ),
    ErrorRule(
        r"torch\.return_types\.(max|min|sort|median|topk)",
        "`{0}` along a dimension returns two things, values and indices. Take `.values`; for the "
        "largest, `amax` returns only the value.",
    ),
    ErrorRule(
        r"'NoneType' object has no attribute '(?:groups?|span|start|end)'",
        "`re.match` and its like return None for a text that they don't fit. Which one doesn't "
        "your pattern cover?",
    ),
    ErrorRule(
        r"'NoneType' object has no attribute '(\w+)'|must be Tensor, not NoneType"
        r"|Invalid dtype: object",
        "Something is None where a tensor is needed. Is an argument missing in a call? Use "
        "one that may be None, such as a mask, only inside `if … is not None`.",
    ),
    ErrorRule(
        r"'([\w.]+)' object has no attribute '(\w+)'",
        "Something of type {0} has no `{1}`.",
    ),
    ErrorRule(
        r"Boolean value of Tensor with more than one value is ambiguous",
        "`if`, `and`, `or`, `not`, and Python's own `max` and `min` need a single True or False; "
        "this tensor holds many. For each element, use `&`, `|`, `~`, `torch.where` or "
        "`torch.maximum`; for the largest one, `amax`; to ask whether there is one, `is not None`.",
    ),
    ErrorRule(
        r"torch\.finfo\(\) requires a floating point",
        "`torch.finfo` got a dtype that isn't floating-point. Did two arguments trade places, the "
        "mask and the scores?",
    ),
    ErrorRule(
        r"value cannot be converted to type (?:\w+::)?(\w+) without overflow",
        "The number is too large for the dtype {0}. The lowest one that each dtype can hold is "
        "`torch.finfo(x.dtype).min`.",
    ),
    ErrorRule(
        r"expected (?:scalar type|m1 and m2 to have the same dtype|both tensors|.*same dtype)",
        "These two tensors have different dtypes. Give the tensors that you make the dtype of the "
        "input: `dtype=x.dtype`, or `x.new_zeros(…)`.",
    ),
    ErrorRule(
        r"modified by an inplace operation",
        "An in-place step (`/=`, `exp_()`) overwrites a tensor that the gradient still needs. Make "
        "a new one: `x = x / y`, not `x /= y`.",
    ),
    ErrorRule(
        r"a leaf Variable that requires grad is being used in an in-place operation",
        "An in-place step (`-=`, `[...] =`) changes a tensor that asks for gradients. Make a new "
        "one, or do it under `torch.no_grad()`.",
    ),
    ErrorRule(
        r"Can't call numpy\(\) on Tensor that requires grad",
        "NumPy ends the gradient. Stay with torch's functions.",
        alone=True,
    ),
    ErrorRule(
        r"(\w+)\(\) (?:missing|takes|got an unexpected|received an invalid)",
        "These arguments don't fit `{0}`: check their number, order and names.",
    ),
    ErrorRule(
        r"unsupported operand type\(s\) for \S+: '(?:Tensor' and 'Linear|Linear' and 'Tensor)'",
        "A layer isn't a matrix: it is called like a function, `self.layer(x)`.",
    ),
    ErrorRule(
        r"unsupported operand type\(s\) for (\S+): '([\w.]+)' and '([\w.]+)'",
        "`{0}` has no meaning between these two types: {1} and {2}.",
    ),
    ErrorRule(
        r"argument 'size' .*(?:failed to unpack|must be tuple of ints).* (?:type|got) '?float",
        "A size has to be a whole number, and this one is a float. `/` gives a float, `//` a whole "
        "number.",
    ),
    ErrorRule(
        r"self must be a matrix|batch1 must be a 3D tensor|mat2 must be a matrix",
        "`mm` takes exactly two dimensions, and `bmm` exactly three; `@` takes any number in "
        "front.",
    ),
    ErrorRule(
        r"element 0 of tensors does not require grad",
        "There is nothing to differentiate: something cuts the path from the parameters to the "
        "loss, such as `no_grad`, `detach` or `.item()`.",
    ),
    ErrorRule(
        r"argument 'tensors' \(position 1\) must be tuple of Tensors, not Tensor",
        "`torch.stack` and `torch.cat` take a list of tensors, and this is a single one. Collect "
        "them in a list first: `append` one in each pass of the loop.",
    ),
    ErrorRule(
        r"Output \d+ of \w+ is a view and is being modified inplace",
        "Filling a tensor piece by piece, in place, breaks its gradients here. Collect the pieces "
        "in a list, then `torch.stack` them.",
        alone=True,
    ),
    ErrorRule(
        r"tuple index out of range",
        "This tuple has fewer items than that. A `shape` has one for each dimension, counted from "
        "0; -1 is the last.",
    ),
    ErrorRule(
        r"'torch.Size' object is not callable",
        "A size is picked with brackets: `x.shape[-1]`.",
    ),
    ErrorRule(
        r"'(\w+)' object is not callable",
        "Something of type {0} is called like a function, with `()`.",
    ),
    ErrorRule(
        r"'(\w+)' object is not (?:subscriptable|iterable)",
        "Something of type {0} is used like a list.",
    ),
    ErrorRule(
        r"only integer tensors of a single element|only one element tensors|a Tensor with \d+ elem",
        "A single number is needed here, and the tensor holds many.",
    ),
)


def explain_error(message: str, sizes: dict[str, int]) -> Meaning | None:
    """Explain an exception's message; None if no rule knows it.

    sizes: the size of each named dimension in the case, to name the sizes in the message.
    """
    names = names_by_size(sizes)
    for rule in RULES:
        if match := re.search(rule.pattern, message):
            sentence = rule.say.format(*(_Group(group, names) for group in match.groups()))
            return Meaning(sentence, rule)
    return None


@dataclass(frozen=True)
class _Group:
    """Part of a message.

    names: the dimensions by size.
    """

    text: str
    names: dict[str, str]

    def __format__(self, spec: str) -> str:
        if spec == "size" and "x" in self.text:
            parts = (f"{self.names[n]}={n}" if n in self.names else n for n in self.text.split("x"))
            return f"({', '.join(parts)})"
        if spec == "size" and self.text in self.names:
            return f"{self.text} ({self.names[self.text]})"
        return self.text
