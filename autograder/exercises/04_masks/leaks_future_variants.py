"""The known mistakes of `leaks_future`, and other right solutions."""

from autograder.lessons.variants import Alternative, Mistake

COMPARED = "torch.allclose(before[:, :later], after[:, :later], atol=1e-5)"
CHANGED = "torch.randn_like(words[:, later:])"
PLACES = "range(1, words.shape[1])"
ONE_WORD = {
    f"changed[:, later:] = {CHANGED}": "changed[:, later] = torch.randn_like(words[:, later])"
}
OWN_OUTPUT = (
    "Your test counts the changed word's own output, which may move. Compare only those before it."
)
LAST_ONLY = (
    "Your test sees leaks in one place only, such as from the last word. Try every place, by "
    "changing all words from there on, and remember what you found."
)
FIRST_ONLY = (
    "Your test looks only at the first output, and misses a leak into another word. Compare all "
    "outputs before the change, at every place. Does a `return` end the loop after the first?"
)
SENTENCES = "Your test changes whole sentences. Words are the second dimension."
ROUNDING = (
    "Your test mistakes a rounding error for a leak. The last digit of an output may move when a "
    "hidden word changes; allow a little more, 1e-5 for numbers near 1."
)
TOLERANT = (
    "A small leak goes unseen: your tolerance is too large for the change you make, or that change "
    "is too small. Put new random numbers there, and allow little more than a rounding error, 1e-6."
)
ONE_SENTENCE = (
    "Your test misses a leak that is only in a later sentence of the batch. Make a batch of "
    "several sentences, change every one of them, and compare them all."
)

MISTAKES = [
    Mistake(
        "True and False exchanged",
        "True and False are swapped. When an output before the changed word moves, that is a "
        "leak: return True.",
        {"return True\n    return False": "return False\n    return True"},
        {f"if not {COMPARED}": f"if {COMPARED}"},
    ),
    Mistake(
        "always True",
        "Your test always says True. Attention leaks only if some output depends on a later word.",
        "return True",
    ),
    Mistake(
        "all outputs compared",
        "Your test finds leaks in sound attention. Only the outputs before a changed word have "
        "to stay; its own output and later ones may move. Compare just the ones before, and "
        "change a fresh copy each time, `words.clone()`.",
        {COMPARED: "torch.allclose(before, after, atol=1e-5)"},
    ),
    Mistake(
        "the changed word's own output compared",
        OWN_OUTPUT,
        {COMPARED: COMPARED.replace(":later", ": later + 1")},
        {**ONE_WORD, COMPARED: COMPARED.replace(":later", ": later + 1")},
        {
            **ONE_WORD,
            PLACES: "range(words.shape[1])",
            COMPARED: COMPARED.replace(":later", ": later + 1").replace("1e-5", "1e-6"),
        },
    ),
    Mistake(
        "the past changed",
        "Your test changes the past and checks whether the outputs after it move. They "
        "should: change the future, and look at the outputs before it.",
        {
            f"changed[:, later:] = {CHANGED}": "changed[:, :later].normal_()",
            COMPARED: COMPARED.replace(":later", "later:"),
        },
    ),
    Mistake(
        "never True",
        "Your test never says True. Do both outputs come from the same words? (`changed = "
        "words` is only a second name for one tensor; `words.clone()` makes a copy.) Or does a "
        "`return` inside the loop end it in the first round, with nothing compared yet? Or is your "
        "change too small to be seen?",
        {
            "words.clone()": "words",
            "after = attention(changed)": ("before, after = attention(words), attention(changed)"),
        },
        {
            PLACES: "range(words.shape[1])",
            f"if not {COMPARED}:\n            return True": f"return not {COMPARED}",
        },
    ),
    Mistake(
        "only the last word changed",
        LAST_ONLY,
        {PLACES: "[words.shape[1] - 1]"},
        """
            words = torch.randn(3, 8, 4)
            return not torch.allclose(attention(words)[:, :4], attention(words[:, :4]), atol=1e-5)
            """,
        {
            "for later": "leaks = False\n    for later",
            f"if not {COMPARED}:\n            return True": f"leaks = not {COMPARED}",
            "return False": "return leaks",
        },
        {
            **ONE_WORD,
            "for later": "leaks = False\n    for later",
            f"if not {COMPARED}:\n            return True": f"leaks = not {COMPARED}",
            "return False": "return leaks",
        },
    ),
    Mistake(
        "one word changed",
        "Your test changes only one word. Change each one in turn.",
        {PLACES: "[3]", **ONE_WORD},
    ),
    Mistake(
        "return inside the loop",
        FIRST_ONLY,
        {f"if not {COMPARED}:\n            return True": f"return not {COMPARED}"},
        {COMPARED: COMPARED.replace(":later", "0")},
    ),
    Mistake(
        "return inside the loop, one word changed",
        "Your test returns after the first place: a `return` inside the loop ends it. Return "
        "True at a leak, and False after the loop.",
        {**ONE_WORD, f"if not {COMPARED}:\n            return True": f"return not {COMPARED}"},
    ),
    Mistake(
        "whole sentences changed",
        SENTENCES,
        {
            f"changed[:, later:] = {CHANGED}": (
                "changed[later:] = torch.randn_like(words[later:])"
            ),
            COMPARED: COMPARED.replace("[:, :later]", "[:later]"),
        },
    ),
    Mistake(
        "words of two dimensions",
        "Your words have two dimensions. Call `attention` on words of shape [batch, n, d].",
        {
            "torch.randn(3, 6, 8)": "torch.randn(6, 8)",
            "words.shape[1]": "words.shape[0]",
            f"changed[:, later:] = {CHANGED}": (
                "changed[later:] = torch.randn_like(words[later:])"
            ),
            COMPARED: COMPARED.replace("[:, :later]", "[:later]"),
        },
    ),
    Mistake(
        "one feature changed",
        "Your test changes only one feature, and misses a leak in one head of several. Change "
        "all features.",
        {f"changed[:, later:] = {CHANGED}": f"changed[:, later:, 0] = {CHANGED}[..., 0]"},
    ),
    Mistake(
        "the same added to all features",
        "A layer norm hides your change: adding the same number to all features of a word "
        "makes no difference after it, and the sum of its outputs never moves. Put new random "
        "numbers there, and compare feature by feature.",
        {CHANGED: "words[:, later:] + 1"},
    ),
    Mistake(
        "exact comparison",
        ROUNDING,
        {COMPARED: "torch.equal(before[:, :later], after[:, :later])"},
    ),
    Mistake(
        "one cut in the middle",
        "Your test cuts past from future in only one place, and misses leaks that don't cross "
        "this cut. Try every place.",
        {PLACES: "[words.shape[1] // 2]"},
    ),
    Mistake(
        "only the first feature compared",
        "Your test looks only at the first feature, and misses a leak in one head of several. "
        "Compare all features.",
        {COMPARED: COMPARED.replace(":later", ":later, 0")},
    ),
    Mistake(
        "the future reordered",
        "Your test only reorders the future, so it misses even attention without a mask: that "
        "is a sum over all words, and a sum ignores their order. Put new words there.",
        {CHANGED: "words[:, later:].flip(1)"},
    ),
    Mistake(
        "NaN in the future",
        "Your test puts NaN into the future and finds leaks in sound attention: 0 · NaN is "
        "NaN, so NaN gets through a weight of exactly 0. Use finite numbers.",
        {CHANGED: "math.nan"},
    ),
    Mistake(
        "a batch of one",
        ONE_SENTENCE,
        {"torch.randn(3, 6, 8)": "torch.randn(1, 6, 8)"},
        {f"changed[:, later:] = {CHANGED}": f"changed[0, later:] = {CHANGED}[0]"},
        {COMPARED: COMPARED.replace("[:, ", "[0, ")},
    ),
    Mistake(
        "a single feature",
        "Your words have a single feature, so heads have nothing to divide among themselves, "
        "and mistakes in dividing go unseen. Give the words several features.",
        {"torch.randn(3, 6, 8)": "torch.randn(3, 6, 1)"},
    ),
    Mistake(
        "two words",
        "Your sentences have two words. A leak that skips a word needs at least three; use a "
        "few more.",
        {"torch.randn(3, 6, 8)": "torch.randn(3, 2, 8)"},
    ),
    Mistake(
        "gradients only",
        "Your test takes gradients, but a comparison has none, so it misses attention that "
        "leaks only whether a later word is larger. Change the words, and compare the outputs.",
        """
            words = torch.randn(3, 5, 4, requires_grad=True)
            outputs = (attention(words) * torch.randn(3, 5, 4)).sum((0, 2))
            for i, output in enumerate(outputs):
                if not output.requires_grad:
                    continue
                (slope,) = torch.autograd.grad(output, words, retain_graph=True)
                if (slope[:, i + 1 :].abs() > 1e-6).any():
                    return True
            return False
            """,
    ),
    Mistake("too tolerant", TOLERANT, *({"atol=1e-5": f"atol={a}"} for a in (0.5, 0.1, 0.01))),
    Mistake(
        "words changed in place",
        "You write into the words that `before` was made from, and an output may be a part of "
        "them: then it changes along. Change a copy, `words.clone()`.",
        {
            "    before = attention(words)\n": "",
            "changed = words.clone()": "before, changed = attention(words), words",
        },
        {"words.clone()": "words"},
    ),
    Mistake(
        "one word changed, the output before it compared",
        "You change one word and look only at the output just before it, so a leak that skips a "
        "word goes unseen. Compare all outputs before the change.",
        {**ONE_WORD, COMPARED: COMPARED.replace(":later", "later - 1")},
    ),
    Mistake(
        "the future scaled",
        "You multiply the future by a number, and attention that scales each word to length 1 "
        "never notices. Put new random numbers there.",
        {CHANGED: "2 * words[:, later:]"},
        {CHANGED: "10 * words[:, later:]"},
    ),
]

ALTERNATIVES = [
    Alternative(
        "one word at a time",
        """
            words = torch.rand(2, 5, 6)
            for place in range(1, 5):
                other = words.clone()
                other[:, place] += 3 * torch.rand(2, 6)
                gap = (attention(other) - attention(words)).abs()
                if gap[:, :place].max() > 1e-6:
                    return True
            return False
            """,
        excuses={
            "another operator: 3 *": "any other word will do",
            "one operand dropped: 3 *": "likewise",
            "another number: 3": "likewise",
            "operands swapped": "only the size of the gap counts",
            "another comparison": "no gap is exactly this large",
            "random start": "any random numbers will do",
        },
    ),
    Alternative(
        "the future cut off",
        """
            words = torch.randn(4, 7, 6, dtype=torch.float64)
            whole = attention(words)
            short = [attention(words[:, :n])[:, -1] for n in range(1, 8)]
            return not torch.allclose(torch.stack(short, 1), whole)
            """,
        excuses={
            "keyword dropped": "the tolerance allows for float32",
            "another number: 4": "any size that is large enough will do",
            "another number: 6": "likewise",
            "arguments swapped": "nearly the same either way",
            "random start": "any random numbers will do",
        },
    ),
    Alternative(
        "large batches, compared to six digits",
        """
            words = torch.randn(8, 4, 10)
            before = attention(words)
            moved = []
            for later in (1, 2, 3):
                changed = torch.cat([words[:, :later], torch.randn_like(words[:, later:])], dim=1)
                gaps = attention(changed)[:, :later] - before[:, :later]
                moved.append(gaps.abs().max().item() > 2e-6)
            return any(moved)
            """,
        excuses={
            "another number: 8": "any size that is large enough will do",
            "another number: 10": "likewise",
            "elements swapped": "any order will do",
            "operands swapped": "only the size of the gap counts",
            "another comparison": "no gap is exactly this large",
            "call dropped: gaps.abs().max().item()": ("a tensor with one number compares like it"),
            "call dropped: gaps.abs() → gaps": "gaps have both signs",
            "random start": "any random numbers will do",
            "detached: torch.cat": "nothing is trained",
        },
    ),
]
