"""The patients of the debugging clinic: attention that runs but is wrong, and some that is right.

Somebody once wrote each of these defects. The stories name the sources; all code is new.
"""

from autograder.utils.models.patient import (
    BLIND_SPOT,
    DROPOUT,
    LEAK,
    MIXING,
    WRONG_SCALE,
    WRONG_SUM,
    Patient,
)

# Lines of the healthy code that patients change.
FUTURE = "future = torch.ones(n_query, n_key, dtype=torch.bool).triu(n_key - n_query + 1)"
SCORES = "scores = query @ key.transpose(-2, -1) / self.d_head**0.5"
WEIGHTS = "return scores.masked_fill(future, -torch.inf).softmax(dim=-1)"
REPEATED = ".repeat_interleave(group, dim=1)"
CONTEXT = "return context.transpose(1, 2).flatten(2)"
RESULT = "return self.output(self.attend(query, key, value))"

HEALTHY = Patient((), "As it should be.")
PATIENTS = {
    "A": Patient(
        (LEAK,),
        "The causal mask came only together with a mask that the caller may pass. Without that "
        "one, there was neither.",
        "facebookresearch/xformers#103",
        {
            "def weigh(self, query, key):": "def weigh(self, query, key, keep=None):",
            WEIGHTS: (
                "if keep is not None:\n"
                "            scores = scores.masked_fill(future | ~keep, -torch.inf)\n"
                "        return scores.softmax(dim=-1)"
            ),
        },
    ),
    "B": Patient(
        (),
        "Reading in pieces, and keeping the keys and values of earlier ones, is how models write "
        "word by word. Here the mask is right for every piece.",
        cached=True,
    ),
    "C": Patient(
        (MIXING,),
        "Keys and values were tiled (0, 1, 0, 1), but should have been repeated (0, 0, 1, 1), so "
        "some heads used the keys of others. Grouped queries hadn't been tested well enough.",
        "ekzhang/jax-js#180",
        {
            f"key = key{REPEATED}": "key = key.repeat(1, group, 1, 1)",
            f"value = value{REPEATED}": "value = value.repeat(1, group, 1, 1)",
        },
    ),
    "D": Patient(
        (WRONG_SCALE,),
        "The queries were scaled, and then a library function scaled the scores again.",
        "huggingface/transformers#38290",
        {SCORES: f"query = query / self.d_head**0.5\n        {SCORES}"},
    ),
    "E": Patient(
        (BLIND_SPOT,),
        "The mask began at the top left: the first query of each piece saw one word, although the "
        "model had read many before.",
        "hyprstream/hyprstream#1521",
        {FUTURE: FUTURE.replace("n_key - n_query + 1", "1")},
        cached=True,
    ),
    "F": Patient(
        (WRONG_SUM, LEAK),
        "The mask came after softmax. In the original, it put −∞ among the weights. Here, it puts "
        "0, and later words still have their share of the sum.",
        "huggingface/pytorch-image-models#2236",
        {WEIGHTS: "return scores.softmax(dim=-1).masked_fill(future, 0.0)"},
    ),
    "G": Patient(
        (),
        "A large negative number hides a score just as well as −∞ does, as long as something is "
        "left to see.",
        edits={WEIGHTS: WEIGHTS.replace("-torch.inf", "-1e9")},
    ),
    "H": Patient(
        (DROPOUT,),
        "The function for dropout doesn't know whether the model is being trained, unless it's "
        "told. “This is a recurring bug I see around,” wrote somebody who repaired it in several "
        "libraries.",
        "huggingface/pytorch-image-models#1978",
        {"self.dropout, self.training)": "self.dropout)"},
    ),
    "I": Patient(
        (WRONG_SUM, MIXING),
        "One softmax ran over all heads together, so the weights of a single head didn't sum to 1, "
        "and depended on the other heads.",
        "facebookresearch/detr#247",
        {
            WEIGHTS: (
                "scores = scores.masked_fill(future, -torch.inf).transpose(1, 2)\n"
                "        return scores.flatten(2).softmax(dim=-1).view_as(scores).transpose(1, 2)"
            )
        },
    ),
    "J": Patient(
        (LEAK,),
        "With a cache, no mask: right for one word at a time, but a prompt is read in one go. The "
        "training loss was 0.06, and the text that the model wrote was garbage.",
        "Mikyx-1/TinyLLM#17",
        {WEIGHTS: f"future[:] = False\n        {WEIGHTS}"},
        cached=True,
    ),
    "K": Patient(
        (),
        "The root is split between queries and keys, as in Whisper's code. The scores are the "
        "same.",
        edits={
            SCORES: "root = self.d_head**0.25\n        scores = (query / root) @ (key / root).mT"
        },
    ),
    "L": Patient(
        (WRONG_SCALE,),
        "The scores were divided by the root of the model's width, not of the head's. The author: "
        "“been coding Attention for nearly a year now and still making rookie mistakes.”",
        "lucidrains/vit-pytorch#65",
        {SCORES: SCORES.replace("self.d_head", "(self.n_heads * self.d_head)")},
    ),
    "M": Patient(
        (MIXING, BLIND_SPOT),
        "The layer took the first dimension for the words and the second for the texts. So a word "
        "saw words of other texts (in the original, other molecules), but only itself in its own.",
        "DaoyuanLi2816/Molecule-Generator#22",
        {
            "def forward(self, x):\n": "def forward(self, x):\n        x = x.transpose(0, 1)\n",
            RESULT: f"{RESULT}.transpose(0, 1)",
        },
    ),
    "N": Patient(
        (BLIND_SPOT,),
        "The cache was cut to size before the new words used it, so they lost words that they "
        "should have seen. (Here it's cut to eight words.)",
        "rasbt/LLMs-from-scratch#1008",
        {
            "torch.cat(keys, dim=2)": "torch.cat(keys[-4:], dim=2)",
            "torch.cat(values, dim=2)": "torch.cat(values[-4:], dim=2)",
        },
        cached=True,
    ),
    "O": Patient(
        (WRONG_SUM,),
        "The sums over two parts of the keys had different offsets, but were added as if the "
        "offsets were the same. A single part (here, four words) was right. The symptom was worse "
        "images.",
        "ROCm/rocm-libraries#6498",
        {
            WEIGHTS: (
                "scores = scores.masked_fill(future, -torch.inf)\n"
                "        near, far = scores[..., :4], scores[..., 4:]\n"
                "        most = scores.amax(dim=-1, keepdim=True)\n"
                "        total = (near - near.amax(dim=-1, keepdim=True)).exp().sum(-1, True)\n"
                "        total = total + (far - most).exp().sum(-1, True)\n"
                "        return (scores - most).exp() / total"
            )
        },
    ),
    "P": Patient(
        (),
        "Powers of 2 instead of *e*, with scores made larger to match: fast code does that. It's "
        "wrong only where the two bases meet, as they did here:",
        "sgl-project/sglang#35045",
        {
            WEIGHTS: (
                "scores = scores.masked_fill(future, -torch.inf) / 0.6931471805599453\n"
                "        powers = torch.exp2(scores - scores.amax(dim=-1, keepdim=True))\n"
                "        return powers / powers.sum(dim=-1, keepdim=True)"
            )
        },
    ),
    "Q": Patient(
        (LEAK,),
        "Off by one in a search: at the end of each group of words, one saw a word too many. Here, "
        "every word sees the next. It was found by printing the mask in a debugger.",
        "octo-models/octo#75",
        {FUTURE: FUTURE.replace("+ 1", "+ 2")},
    ),
    "R": Patient(
        (MIXING, LEAK, BLIND_SPOT),
        "The heads were put side by side without being transposed first, so pieces of different "
        "words ended up in one. Training passed its test all the same; the task was too easy.",
        "jsbaan/transformer-from-scratch#6",
        {CONTEXT: "return context.reshape(len(context), context.shape[2], -1)"},
    ),
    "S": Patient(
        (WRONG_SUM, LEAK),
        "Softmax ran along the wrong dimension. Here, each key's weights sum to 1, not each "
        "query's.",
        "PetrochukM/PyTorch-NLP#2",
        {WEIGHTS: WEIGHTS.replace("dim=-1", "dim=-2")},
    ),
    "T": Patient(
        (BLIND_SPOT,),
        "Off by one the other way: no word saw itself. In the original, a blog post, that left "
        "nothing for the first word, and gave NaN. Here it happens only with a cache.",
        "pbloem/former#10",
        {FUTURE: FUTURE.replace("+ 1", "+ int(n_key == n_query)")},
        cached=True,
    ),
}
