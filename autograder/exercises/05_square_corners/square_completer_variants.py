"""The known mistakes of `SquareCompleter`, and other right solutions."""

from autograder.lessons.variants import Alternative, Mistake

PASS = "self.decoder(shifted_target, memory, target_keep=keep)"
STEP = "self.decoder(written, memory, target_keep=causal_keep(n))"
GROW = "torch.cat([written, out[:, -1:]], dim=1)"
SAME_POINT = (
    "`predict` gives the same point again and again. Each step should append its last output, "
    "made from all the points before it."
)

MISTAKES = [
    Mistake(
        "no target mask in training",
        "In `forward` the target is not masked: each place sees the later ones, which hold "
        "what it should write. Training then looks great, but prediction doesn't.",
        {PASS: "self.decoder(shifted_target, memory)"},
        {
            PASS: "self.decoder(shifted_target, memory)",
            STEP: "self.decoder(written, memory)",
        },
    ),
    Mistake(
        "target mask in the source's place",
        "In `forward` the target's mask went to the decoder as its third argument, which is "
        "`source_keep`. Pass it by name: `target_keep=…`.",
        {PASS: "self.decoder(shifted_target, memory, keep)"},
        {
            PASS: "self.decoder(shifted_target, memory, keep)",
            STEP: "self.decoder(written, memory, causal_keep(n))",
        },
    ),
    Mistake(
        "target mask for both",
        "In `forward` you masked the source, too. All of it is known: leave `source_keep` as "
        "it is.",
        {PASS: "self.decoder(shifted_target, memory, keep, keep)"},
        {
            PASS: "self.decoder(shifted_target, memory, keep, keep)",
            STEP: "self.decoder(written, memory, causal_keep(n), causal_keep(n))",
        },
    ),
    Mistake(
        "mask reversed",
        "In `forward` the mask is reversed: True means may attend, so the lower triangle is True.",
        {PASS: "self.decoder(shifted_target, memory, target_keep=~keep)"},
        {
            PASS: "self.decoder(shifted_target, memory, target_keep=~keep)",
            STEP: "self.decoder(written, memory, target_keep=~causal_keep(n))",
        },
    ),
    Mistake(
        "mask transposed",
        "In `forward` the mask is transposed: each place sees the later ones, not the earlier.",
        {PASS: "self.decoder(shifted_target, memory, target_keep=keep.T)"},
        {
            PASS: "self.decoder(shifted_target, memory, target_keep=keep.T)",
            STEP: "self.decoder(written, memory, target_keep=causal_keep(n).T)",
        },
    ),
    Mistake(
        "own place masked",
        "In `forward` no place sees itself. It holds the last point known there, so it may be "
        "seen: make the diagonal True.",
        {PASS: "self.decoder(shifted_target, memory, target_keep=keep.tril(-1))"},
    ),
    Mistake(
        "memory from the decoder's own input",
        "In `forward` the encoder got the shifted target. It should read the source.",
        {
            "memory = self.encoder(source)\n        keep": (
                "memory = self.encoder(shifted_target)\n        keep"
            )
        },
    ),
    Mistake(
        "decoder reads the source",
        "In `forward` the decoder reads the source. It should read `shifted_target`.",
        {PASS: "self.decoder(source, memory, target_keep=causal_keep(source.shape[1]))"},
    ),
    Mistake(
        "target shifted once more",
        "In `forward` you shifted the target again. `shifted_target` is already shifted.",
        {
            PASS: "self.decoder(torch.cat([source[:, -1:], shifted_target[:, :-1]], 1), "
            "memory, target_keep=keep)"
        },
    ),
    Mistake(
        "memory detached",
        "The numbers are right, but in `forward` the memory is detached: no gradient "
        "reaches the encoder, so it would never be trained.",
        {PASS: "self.decoder(shifted_target, memory.detach(), target_keep=keep)"},
    ),
    Mistake(
        "memory kept from an earlier call",
        "`forward` reuses the memory of an earlier call, made from other squares. Call the "
        "encoder each time.",
        {
            "        memory = self.encoder(source)\n        keep": (
                "        if not self.built:\n"
                "            self.built.append(self.encoder(source))\n"
                "        [memory] = self.built\n"
                "        keep"
            ),
            "self.n_source, self.n_target = n_source, n_target": (
                "self.n_source, self.n_target, self.built = n_source, n_target, []"
            ),
        },
    ),
    Mistake(
        "starts from the first source point",
        "`predict` starts from the first source point. In training the decoder reads the "
        "last one first, so prediction starts there too.",
        {"written = source[:, -1:]": "written = source[:, :1]"},
    ),
    Mistake(
        "starts from a point without its dimension",
        "`predict` starts from a tensor that has no dimension for the points. `source[:, -1:]` "
        "keeps it, and `source[:, -1]` drops it.",
        {"written = source[:, -1:]": "written = source[:, -1]"},
    ),
    Mistake(
        "an output without its dimension",
        "`predict` appends a tensor that has no dimension for the points. `out[:, -1:]` keeps it, "
        "and `out[:, -1]` drops it.",
        {GROW: "torch.cat([written, out[:, -1]], dim=1)"},
    ),
    Mistake(
        "starts from zeros",
        "`predict` starts from zeros. In training the decoder reads the last source point first.",
        {"written = source[:, -1:]": "written = torch.zeros_like(source[:, -1:])"},
    ),
    Mistake(
        "starts from the whole source",
        "`predict` starts from the whole source. In training the decoder reads the last "
        "source point and what follows it, so prediction starts from that point alone.",
        {
            "written = source[:, -1:]": "written = source",
            "causal_keep(n))": "causal_keep(written.shape[1]))",
            "written[:, 1:]": "written[:, self.n_source :]",
        },
    ),
    Mistake(
        "start point returned",
        "`predict` returns the starting point as well. It was given, not predicted.",
        {"written[:, 1:]": "written"},
    ),
    Mistake(
        "last prediction missing",
        "`predict` returns the starting point but not the last prediction.",
        {"written[:, 1:]": "written[:, :-1]"},
    ),
    Mistake(
        "all outputs appended",
        "In `predict` you appended all outputs of a step, so some points are there twice. "
        "Only the last one is new.",
        {
            GROW: "torch.cat([written, out], dim=1)",
            "causal_keep(n))": "causal_keep(written.shape[1]))",
            "written[:, 1:]": "written[:, 1 : self.n_target + 1]",
        },
    ),
    Mistake(
        "first output appended",
        SAME_POINT,
        {GROW: "torch.cat([written, out[:, :1]], dim=1)"},
        {
            STEP: "self.decoder(written.expand(-1, self.n_target, -1), memory, "
            "target_keep=causal_keep(self.n_target))",
            GROW: "torch.cat([written[:, :1], out], dim=1)",
            "range(1, self.n_target + 1)": "range(1)",
        },
    ),
    Mistake(
        "output added to the last point",
        "`predict` adds each output to the point before it. The decoder's output is the next "
        "point itself: append it as it is.",
        {GROW: "torch.cat([written, written[:, -1:] + out[:, -1:]], dim=1)"},
    ),
    Mistake(
        "only the last point read",
        "In `predict` the decoder reads the last point only. In training it saw everything "
        "before it as well.",
        {STEP: "self.decoder(written[:, -1:], memory, target_keep=causal_keep(1))"},
    ),
    Mistake(
        "mask of fixed size while predicting",
        "In `predict` the mask has its full size from the first step on, but the sequence "
        "doesn't. Let the mask grow with the sequence.",
        {STEP: "self.decoder(written, memory, target_keep=causal_keep(self.n_target))"},
    ),
    Mistake(
        "no mask while predicting",
        "In `predict` the target is not masked, but in training it was. With more than one "
        "layer, the decoder then computes something else for the points before the last.",
        {STEP: "self.decoder(written, memory)"},
    ),
    Mistake(
        "target mask in the source's place while predicting",
        "In `predict` the target's mask went to the decoder as its third argument, which is "
        "`source_keep`. Pass it by name: `target_keep=…`.",
        {STEP: "self.decoder(written, memory, causal_keep(n))"},
    ),
    Mistake(
        "memory of the written points",
        "In `predict` the encoder got the decoder's own input. It should read the source.",
        {STEP: "self.decoder(written, self.encoder(written), target_keep=causal_keep(n))"},
    ),
    Mistake(
        "one point too few",
        "`predict` gives one point too few: `range(1, n)` ends before n.",
        {"range(1, self.n_target + 1)": "range(1, self.n_target)"},
    ),
    Mistake(
        "one point too many",
        "`predict` gives one point too many: it should write `n_target` points.",
        {"range(1, self.n_target + 1)": "range(1, self.n_target + 2)"},
    ),
    Mistake(
        "as many points as the source",
        "`predict` writes `n_source` points. For squares both are 2, but it should write "
        "`n_target`.",
        {"range(1, self.n_target + 1)": "range(1, self.n_source + 1)"},
    ),
    Mistake(
        "training mode while predicting",
        "`predict` ran in training mode, so dropout would disturb it. Call `self.eval()` "
        "first, and restore the old mode at the end.",
        {"self.eval()": "pass"},
    ),
    Mistake(
        "left in evaluation mode",
        "`predict` leaves the model, or its parts, in evaluation mode, so training would go on "
        "without dropout. Save `self.training` first, and restore it at the end with "
        "`self.train(…)`, which sets every part.",
        {"self.train(was_training)": "pass"},
    ),
    Mistake(
        "left in training mode",
        "`predict` leaves the model in training mode, whatever it was in before. Save "
        "`self.training` first, and restore it at the end.",
        {"self.train(was_training)": "self.train()"},
    ),
    Mistake(
        "graph grows while predicting",
        "`predict` builds a graph that grows with each step. Nothing is trained here: use "
        "`torch.no_grad()`, or detach what you feed back in.",
        {"@torch.no_grad()\n    def predict": "def predict"},
    ),
    Mistake(
        "source masked",
        "You gave the encoder a causal mask. All of the source is known: call the encoder without "
        "one.",
        {
            "memory = self.encoder(source)\n        keep": (
                "memory = self.encoder(source, causal_keep(source.shape[1]))\n        keep"
            ),
            "memory = self.encoder(source)\n            written": (
                "memory = self.encoder(source, causal_keep(source.shape[1]))\n            written"
            ),
        },
        {
            "memory = self.encoder(source)\n        keep": (
                "memory = self.encoder(source, causal_keep(source.shape[1]))\n        keep"
            )
        },
        {
            "memory = self.encoder(source)\n            written": (
                "memory = self.encoder(source, causal_keep(source.shape[1]))\n            written"
            )
        },
    ),
    Mistake(
        "starts from the second source point",
        "`predict` starts from the second source point, which is the last one of two only. Take "
        "`source[:, -1:]`, however long the source is.",
        {"written = source[:, -1:]": "written = source[:, 1:2]"},
    ),
    Mistake(
        "source encoded in training mode",
        "In `predict` the encoder still ran in training mode. Call `self.eval()` before it, not "
        "after.",
        {
            "        self.eval()\n        try:\n            memory = self.encoder(source)\n": (
                "        memory = self.encoder(source)\n        self.eval()\n        try:\n"
            )
        },
    ),
]

ALTERNATIVES = [
    Alternative(
        "a list of predictions, detached",
        {
            "@torch.no_grad()\n    def predict": "def predict",
            "written = source[:, -1:]\n": "points = [source[:, -1:]]\n",
            f"out = {STEP}\n                written = {GROW}": (
                "out = self.decoder(torch.cat(points, 1), memory, None, causal_keep(n))\n"
                "                points.append(out[:, -1:].detach())"
            ),
            "return written[:, 1:]": "return torch.cat(points[1:], dim=1)",
        },
    ),
    Alternative(
        "a place for every point",
        {
            "written = source[:, -1:]\n": (
                "written = source[:, -1:].repeat(1, self.n_target + 1, 1)\n"
            ),
            STEP: "self.decoder(written[:, :n], memory, None, causal_keep(n))",
            f"written = {GROW}": "written[:, n] = out[:, -1]",
        },
    ),
    Alternative(
        "all points written anew each step",
        {GROW: "torch.cat([source[:, -1:], out], dim=1)"},
        excuses={"detached: torch.cat(": "`predict` builds no graph"},
    ),
    Alternative(
        "source encoded anew each step",
        {
            STEP: "self.decoder(\n                "
            "written, self.encoder(source), None, torch.ones(n, n).tril().bool()\n"
            "            )"
        },
    ),
    Alternative(
        "full mask, cut to size",
        {
            STEP: "self.decoder(\n                written, memory, "
            "target_keep=causal_keep(self.n_target)[:n, :n]\n            )"
        },
    ),
]
