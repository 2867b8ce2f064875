"""Whether one text gets into another, or a head gets where it doesn't belong."""

from autograder.lessons.exercise import Exercise
from autograder.lessons.parts import Judged, Result
from autograder.lessons.variants import Alternative, Mistake

from .shared import ALWAYS, ENOUGH, EVALUATED, RANDOM, telling_apart

TEXTS = """x = torch.randn(4, 12, attention.query.in_features)
for text in range(4):
    changed = x.clone()
    changed[text] = torch.randn_like(x[text])
    if moved(attention(changed) - attention(x), 0) != [t == text for t in range(4)]:
        return True
"""
HEADS = """x = torch.randn(4, 12, attention.query.in_features)
attention = copy.deepcopy(attention)
nn.init.eye_(attention.output.weight)
n_heads, n_kv_heads = attention.n_heads, attention.n_kv_heads
for layer, n in [("query", n_heads), ("key", n_kv_heads), ("value", n_kv_heads)]:
    for head in range(n):
        other = copy.deepcopy(attention)
        getattr(other, layer).weight.unflatten(0, (n, -1))[head] *= -1
        difference = (other(x) - attention(x)).unflatten(-1, (n, -1))
        if moved(difference, 2) != [h == head for h in range(n)]:
            return True
return False
"""
TEXT_DIFFERENCE = "attention(changed) - attention(x)"
HEAD_DIFFERENCE = "other(x) - attention(x)"
OWN_HEADS = "moved(difference, 2) != [h == head for h in range(n)]"

EXERCISE = Exercise(
    "find_mixing",
    returns="mixes",
    parts=[Result(plain=True), Judged(steady=True)],
    also=(),
    seconds=30.0,
    aspects=[
        telling_apart(
            "texts",
            2,
            "MAB",
            "a trace of the other texts",
            "a trace of the next text",
            "a trace of the last text in the first",
            "a trace of the second text in the first",
            "one feature of the next text",
            "the last of several texts lost",
            "another text's queries in the first three words",
            "another text's queries from the ninth word on",
            "keys measured from the mean of all",
        ),
        telling_apart(
            "heads",
            3,
            "CEKO",
            "heads in another order",
            "the first two heads exchanged",
            "the second and the third query head exchanged",
            "one feature of the first head in the second",
            "the last head lost",
            "query heads in another order",
            "tiled values, repeated keys",
            "key heads in another order",
            "value heads in another order",
            "the last head in the first",
            "the first head in the last",
            "heads exchanged in the first three words",
            "heads exchanged from the ninth word on",
            hidden=("head by head", "softmax in double precision"),
        ),
        telling_apart("heads and words", 1, "RITDG"),
    ],
    mistakes=[
        Mistake("never", ALWAYS, "return False"),
        Mistake(
            "always",
            "Your test says that every module mixes something. When you look at single heads, is "
            "the output layer the identity? (Otherwise it mixes them all, as it should.) Does each "
            "head get a fresh copy of the module? Are keys and values cut into `n_kv_heads` heads? "
            "And has the text more than one word?",
            {"    nn.init.eye_(attention.output.weight)\n": ""},
            {"other = copy": "other = other if head else copy"},
            {"randn(4, 12,": "randn(4, 1,"},
            {"unflatten(-1, (n, -1))": "unflatten(-1, (n_heads, -1))"},
            "return True",
        ),
        Mistake(
            "what was changed may stay",
            "You look only at what should stay. What you changed, a text or a head, has to move: "
            "if it doesn't, it has got lost on the way.",
            {
                "moved(attention(changed) - attention(x), 0) != [t == text for t in range(4)]": (
                    "any(m for t, m in enumerate(moved(attention(changed) - attention(x), 0)) "
                    "if t != text)"
                ),
                OWN_HEADS: "any(m for h, m in enumerate(moved(difference, 2)) if h != head)",
            },
            {OWN_HEADS: "any(m for h, m in enumerate(moved(difference, 2)) if h != head)"},
            {
                "moved(attention(changed) - attention(x), 0) != [t == text for t in range(4)]": (
                    "any(m for t, m in enumerate(moved(attention(changed) - attention(x), 0)) "
                    "if t != text)"
                ),
            },
        ),
        Mistake(
            "texts only",
            "Your test misses heads that get into other heads. Change the weights of each head, "
            "and see whose features move.",
            TEXTS + "return False",
            {OWN_HEADS: "not moved(difference, 2)[head]"},
        ),
        Mistake(
            "heads only",
            "You test the heads, but not the texts. A word may see words of another text.",
            HEADS,
        ),
        Mistake(
            "values only",
            "You change heads of the value layer, but not of the others. A head may also use the "
            "wrong keys, or the wrong queries.",
            {'("query", n_heads), ("key", n_kv_heads), ': ""},
        ),
        Mistake(
            "queries only",
            "You change heads of the query layer, but not of the others. (Or does your loop return "
            "too early?) Keys and values can get to the wrong heads, too.",
            {', ("key", n_kv_heads), ("value", n_kv_heads)]': "]"},
        ),
        Mistake(
            "no queries",
            "You change heads of the key and the value layer, but not of the query layer.",
            {'("query", n_heads), ': ""},
        ),
        Mistake(
            "the last text only",
            "You change only the last text, and a mask may hide that one from the others. Change "
            "each text in turn.",
            {"for text in range(4)": "for text in range(3, 4)"},
        ),
        Mistake(
            "the first text only",
            "You change only the first text, or look at only some of the texts. Change each text "
            "in turn, and look at all of them every time.",
            {"for text in range(4)": "for text in range(1)"},
        ),
        Mistake(
            "the last word only",
            "You compare only the last word. Something may get mixed up in the words before it.",
            {TEXT_DIFFERENCE: "(attention(changed) - attention(x))[:, -1:]"},
            {HEAD_DIFFERENCE: "(other(x) - attention(x))[:, -1:]"},
            {
                TEXT_DIFFERENCE: "(attention(changed) - attention(x))[:, -1:]",
                HEAD_DIFFERENCE: "(other(x) - attention(x))[:, -1:]",
            },
        ),
        Mistake(
            "no room for rounding",
            "Your test mistakes a rounding error for mixing. Sound code may round differently when "
            "another text or head changes: allow each number 1e-5, as `moved` does.",
            {
                f"moved({TEXT_DIFFERENCE}, 0)": f"[bool(d.any()) for d in {TEXT_DIFFERENCE}]",
                "moved(difference, 2)": "[bool(d.any()) for d in difference.unbind(2)]",
            },
            {f"moved({TEXT_DIFFERENCE}, 0)": f"[bool(d.any()) for d in {TEXT_DIFFERENCE}]"},
        ),
        Mistake(
            "short texts",
            "Your texts are too short. Something that changes at the ninth word shows only in "
            "longer ones. Use 12 words.",
            {"randn(4, 12,": "randn(4, 5,"},
        ),
    ],
    alternatives=[
        Alternative(
            "another change",
            {"unflatten(0, (n, -1))[head] *= -1": "unflatten(0, (n, -1))[head].normal_()"},
        ),
        Alternative(
            "each text alone",
            {
                "changed = x.clone()\n        changed[text] = torch.randn_like(x[text])\n"
                "        if moved(attention(changed) - attention(x), 0) != "
                "[t == text for t in range(4)]:": (
                    "if any(moved(attention(x[text : text + 1])[0] - attention(x)[text], 0)):"
                )
            },
            excuses={
                "operands swapped": "a difference has no sign",
                "another number": "one text has one place, and any dimension will do",
            },
        ),
    ],
    hints=[
        "Two tests, one after the other. Texts first: draw four, change one, and see which move.",
        "Heads: take a copy with the identity as its output layer. For each layer and each head, "
        "take another copy, and change the weights of that head.",
        "`outputs.unflatten(-1, (n, -1))` splits the features into n heads, and `moved` tells you "
        "which of them moved. Only one may.",
    ],
    excuses={
        "seed changed": "it may draw from a seed of its own",
        "argument left in evaluation mode": EVALUATED,
        "another number: 12 →": ENOUGH,
        "another number: 1 →": "any change of the weights will do",
        "operands swapped": "a difference has no sign",
        "elements swapped": "the order of the layers does not matter",
        "random start": RANDOM,
    },
)
