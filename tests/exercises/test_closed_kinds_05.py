"""Answers to lesson 5's exercises that a check once judged wrongly, or explained badly."""

import pytest

from tests.exercises.answers import PASSES, REJECTED, Row, each, said

pytestmark = pytest.mark.usefixtures("one_thread")

KEPT = "self.attn_weights = torch.stack(weights)"
MASKED = "masked_attention(*projected, keep)"
RESULT = "return self.output(torch.cat(contexts, dim=-1))"
BEGIN = "contexts, weights = [], []"
HEADS = "self.heads = nn.ModuleList()"

WIDE: list[Row] = [
    (
        "the weights of calls in evaluation mode only",
        {KEPT: f"if not (self.training and hasattr(self, 'attn_weights')):\n            {KEPT}"},
        REJECTED,
    ),
    (
        "the graph in train mode",
        {"attn_weights.detach()": "attn_weights if self.training else attn_weights.detach()"},
        "attached",
    ),
    (
        "a buffer",
        {KEPT: KEPT.replace("self.attn_weights = ", "self.register_buffer('attn_weights', ") + ")"},
        "not loaded",
    ),
    (
        "a buffer from the start",
        {HEADS: f"{HEADS}\n        self.register_buffer('attn_weights', None)"},
        "not loaded",
    ),
    ("kept on the class", {KEPT: KEPT.replace("self", "type(self)")}, "left_by_another"),
    ("__call__", {"def forward(": "def __call__("}, "method"),
    (
        "float64",
        {"nn.Linear(d_input, d_model)": "nn.Linear(d_input, d_model).double()"},
        "parameter shape",
    ),
    (
        "a layer made in forward",
        {BEGIN: f"{BEGIN}\n        self.output = nn.Linear(*self.output.weight.T.shape)"},
        "part replaced",
    ),
    ("a seed in forward", {BEGIN: f"{BEGIN}\n        torch.manual_seed(0)"}, "setting"),
    (
        "dropout",
        {
            RESULT: RESULT.replace(
                "torch.cat(contexts, dim=-1)",
                "F.dropout(torch.cat(contexts, dim=-1), 0.1, self.training)",
            )
        },
        "no_dropout",
    ),
    (
        "dropout in the kept weights",
        {"attn_weights.detach()": "F.dropout(attn_weights.detach(), 0.1, self.training)"},
        "no_dropout",
    ),
    (
        "one query",
        {MASKED: "masked_attention(*projected, keep if query.shape[1] > 1 else None)"},
        "no mask for one query",
    ),
    (
        "one key",
        {MASKED: "masked_attention(*projected, keep if memory.shape[1] > 1 else None)"},
        "",
    ),
    (
        "one sequence",
        {MASKED: "masked_attention(*projected, keep if len(query) > 1 else None)"},
        "",
    ),
    ("one head", {RESULT: f"if len(contexts) == 1: return contexts[0]\n        {RESULT}"}, ""),
    ("squeezed", {RESULT: f"{RESULT}.squeeze(0)"}, "wrong_shape"),
    (
        "a square mask turned",
        {
            MASKED: (
                "masked_attention(*projected, keep if keep is None or "
                "keep.shape[-1] != keep.shape[-2] else keep.mT)"
            )
        },
        "",
    ),
    (
        "a mask kept",
        {BEGIN: f"{BEGIN}\n        keep = self.kept = getattr(self, 'kept', keep)"},
        "left_behind",
    ),
    (
        "the diagonal",
        {
            RESULT: (
                "own = self.output.weight.unflatten(1, (len(contexts), -1))"
                "\n        return self.output.bias + sum(c @ own[:, "
                "h].diagonal().diag() for h, c in enumerate(contexts))"
            )
        },
        "the diagonal of the output's weight",
    ),
    (
        "hidden after softmax",
        {
            (f"context, attn_weights = {MASKED}"): (
                "_, attn_weights = masked_attention(*projected)\n            if "
                "keep is not None:\n                attn_weights = "
                "F.normalize(attn_weights * keep, 1, dim=-1)\n            context "
                "= attn_weights @ projected[2]"
            )
        },
        "",
    ),
    ("rounded", {RESULT: f"{RESULT}.round(decimals=4)"}, "too_few_digits"),
    (
        "a buffer that isn't saved",
        {KEPT: "self.register_buffer('attn_weights', torch.stack(weights), persistent=False)"},
        PASSES,
    ),
]

ATTENDED = "self.attention(source, source, keep)"
FED = "self.feedforward(attended)"


def in_order(last: str) -> dict[str, str]:
    """The layers of a feed-forward net by name."""
    old = f"nn.Linear(d_model, d_feedforward), nn.ReLU(), nn.Linear(d_feedforward, {last})"
    up, act, down = old.split(", n")
    return {old: f"__import__('collections').OrderedDict(up={up}, act=n{act}, down=n{down})"}


ENCODER: list[Row] = [
    (
        "a mask in evaluation mode only",
        {ATTENDED: "self.attention(source, source, None if self.training else keep)"},
        "keep ignored in train mode",
    ),
    ("dropout", {FED: f"F.dropout({FED}, 0.1, self.training)"}, "no_dropout"),
    (
        "one point",
        {ATTENDED: "self.attention(source, source, keep if source.shape[1] > 1 else None)"},
        "",
    ),
    (
        "one sequence",
        {ATTENDED: "self.attention(source, source, keep if len(source) > 1 else None)"},
        "",
    ),
    (
        "a mask turned",
        {ATTENDED: "self.attention(source, source, None if keep is None else keep.mT)"},
        "",
    ),
    ("a leaky ReLU", {"nn.ReLU()": "nn.LeakyReLU()"}, "another activation"),
    ("__call__", {"def forward(": "def __call__("}, "method"),
    ("layers by name", in_order("d_model"), PASSES),
]

CROSSED = "self.cross_attention(asking, memory, source_keep)"
DECODER: list[Row] = [
    (
        "masks in evaluation mode only",
        {"target_keep)": "None if self.training else target_keep)"},
        "masks ignored in train mode",
    ),
    (
        "both masks for the target where their sizes fit",
        {
            "asking = ": "both = target_keep\n"
            "        if None not in (source_keep, both) and source_keep.shape[-1] == len(both):\n"
            "            both = both & source_keep\n"
            "        asking = ",
            "target, target_keep)": "target, both)",
        },
        REJECTED,
    ),
    (
        "a causal mask for another",
        {"target_keep)": "target_keep if target_keep is None else causal_keep(target.shape[1]))"},
        "causal whatever target_keep says",
    ),
    (
        "the future hidden as well",
        {"target_keep)": "target_keep if target_keep is None else target_keep.tril())"},
        "causal whatever target_keep says",
    ),
    (
        "one target mask for all",
        {
            "target_keep)": (
                "target_keep if getattr(target_keep, 'ndim', 2) == 2 else target_keep[:1])"
            )
        },
        "the first target mask for all",
    ),
    ("dropout", {FED: f"F.dropout({FED}, 0.1, self.training)"}, "no_dropout"),
    (
        "one query",
        {
            CROSSED: (
                "self.cross_attention(asking, memory, source_keep if target.shape[1] > 1 else None)"
            )
        },
        "",
    ),
    (
        "one key",
        {
            CROSSED: (
                "self.cross_attention(asking, memory, source_keep if memory.shape[1] > 1 else None)"
            )
        },
        "",
    ),
    (
        "one sequence",
        {CROSSED: "self.cross_attention(asking, memory, source_keep if len(target) > 1 else None)"},
        "",
    ),
    ("layers by name", in_order("d_input"), PASSES),
]

COMPLETER: list[Row] = [
    (
        "starts from a point, not a sequence",
        {"written = source[:, -1:]": "written = source[:, -1]", "out[:, -1:]": "out[:, -1]"},
        "starts from a point without its dimension",
    ),
    (
        "appends a point, not a sequence",
        {"out[:, -1:]": "out[:, -1]"},
        "an output without its dimension",
    ),
    (
        "a batch of one lost",
        {"return written[:, 1:]": "return written[:, 1:].squeeze(0)"},
        "wrong_shape",
    ),
    (
        "a target of one lost",
        {"return written[:, 1:]": "return written[:, 1:].squeeze(1)"},
        "wrong_shape",
    ),
    (
        "no_grad deleted",
        {"@torch.no_grad()\n    def predict": "def predict"},
        "graph grows while predicting",
    ),
    (
        "only the encoder in evaluation mode",
        {"self.eval()": "self.encoder.eval()"},
        "",
    ),
    (
        "two points for the first source",
        {
            "written = source[:, -1:]": (
                "written = source[:, :1] if source.shape[1] == 2 else source[:, -1:]"
            )
        },
        "",
    ),
    (
        "inference mode",
        {"@torch.no_grad()\n    def predict": "@torch.inference_mode()\n    def predict"},
        PASSES,
    ),
]

LOSS = "error = loss(model(source, shifted_target), target)"
EPOCH: list[Row] = [
    (
        "a learning rate that falls",
        {"    return sum": "    optimizer.param_groups[0]['lr'] /= 2\n    return sum"},
        "argument changed",
    ),
    (
        "cleared late",
        {
            "        optimizer.zero_grad()\n": "",
            "optimizer.step()\n": "optimizer.step()\n        optimizer.zero_grad()\n",
        },
        "cleared after the step",
    ),
    (
        "an index",
        {
            (
                "for source, target in loader:"
            ): "for number in range(len(loader)):\n        source, target = loader[number]"
        },
        "a loader with an index",
    ),
    (
        "the data set",
        {"for source, target in loader:": "for source, target in loader.dataset:"},
        "",
    ),
    (
        "a sum for the mean",
        {LOSS: "error = (model(source, shifted_target) - target).square().sum()"},
        "sum for mean",
    ),
    (
        "another learning rate",
        {"losses = []": "losses = []\n    optimizer.param_groups[0]['lr'] *= 0.99"},
        "argument changed",
    ),
    (
        "the loss's path lost",
        {"error.backward()": "error.detach().requires_grad_().backward()"},
        "gradients cleared before the step",
    ),
    ("NumPy's mean", {"sum(losses) / len(losses)": "__import__('numpy').mean(losses)"}, PASSES),
]

TURNED: list[Row] = [
    (
        "a batch of one lost",
        {
            ("return torch.stack([-corner, -way * turned(corner)], dim=1)"): (
                "return torch.stack([-corner, -way * turned(corner)], dim=1).squeeze(0)"
            )
        },
        "wrong_shape",
    ),
    (
        "two squares mixed",
        {"norm(dim=-1, keepdim=True)": "norm(dim=0 if len(source) == 2 else -1, keepdim=True)"},
        "",
    ),
    (
        "301 squares",
        {"first, second = source": "source = source[:301]\n    first, second = source"},
        "wrong_shape",
    ),
]

RUNS: list[Row] = [
    (
        "epoch 39",
        {"train_losses[-1] > train_losses[0]": "train_losses[39] > train_losses[0]"},
        "raised",
    ),
    (
        "15 rises",
        {"train_losses[-1] > train_losses[0]": "(train_losses.diff() > 0).sum() > 15"},
        "rises counted",
    ),
]

TRAINED: list[Row] = [
    (
        "a batch of one lost",
        {"model.predict(test_source)": "model.predict(test_source).squeeze()"},
        "wrong_shape",
    ),
]

SHIFTED: list[Row] = [
    ("three places", "return sequence[:, n_source - 1 : n_source + 2]", "wrong_shape"),
    (
        "one target point",
        (
            "return sequence[:, n_source - 1 : -1] if sequence.shape[1] > "
            "n_source + 1 else sequence[:, n_source:]"
        ),
        "",
    ),
    (
        "as many points as coordinates",
        (
            "if sequence.shape[1] == sequence.shape[2]: sequence = "
            "sequence.mT\nreturn sequence[:, n_source - 1 : -1]"
        ),
        "",
    ),
]

ANSWERS: dict[str, list[Row]] = {
    "shift_target": SHIFTED,
    "WideMultiHeadAttention": WIDE,
    "Encoder": ENCODER,
    "Decoder": DECODER,
    "SquareCompleter": COMPLETER,
    "train_epoch": EPOCH,
    "diagnose_run": RUNS,
    "train_completer": TRAINED,
    "complete_turned": TURNED,
}


@each(ANSWERS)
def test_an_answer_gets_what_it_should(exercise, code, expected):
    assert expected in said(exercise, code)
