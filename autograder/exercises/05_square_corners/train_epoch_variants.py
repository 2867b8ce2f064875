"""The known mistakes of `train_epoch`, and other right solutions."""

from autograder.lessons.variants import Alternative, Mistake

SHIFTED = "torch.cat([source[:, -1:], target[:, :-1]], dim=1)"
STAYS = (
    "The model doesn't change. One of the three calls is missing, the loss has lost its path to "
    "the model, or you clear the gradients between `backward`, which finds them, and `step`, "
    "which uses them."
)

MISTAKES = [
    Mistake(
        "gradients not cleared",
        "The gradients are never cleared: from the second batch on, each step uses the sum "
        "of all gradients so far. Clear them for every batch, with `zero_grad`.",
        {"optimizer.zero_grad()\n": "\n"},
    ),
    Mistake(
        "cleared after the step",
        "You clear the gradients after each step, so your first step also uses whatever an earlier "
        "training left in them. Clear them before `backward`.",
        {
            "        optimizer.zero_grad()\n": "",
            "optimizer.step()\n": "optimizer.step()\n        optimizer.zero_grad()\n",
        },
    ),
    Mistake(
        "gradients cleared before the step",
        STAYS,
        {
            "optimizer.zero_grad()\n": "\n",
            "error.backward()": "error.backward()\n        optimizer.zero_grad()",
        },
        {"optimizer.step()": "pass"},
        {"error.backward()": "pass"},
    ),
    Mistake(
        "one step for the whole epoch",
        "You take one step, after the loop. Each batch should have its own: `step` belongs "
        "inside the loop.",
        {
            "optimizer.zero_grad()\n": "\n",
            "        optimizer.step()\n": "",
            "return sum": "optimizer.step()\n    return sum",
        },
        {
            "        optimizer.step()\n": "",
            "return sum": "optimizer.step()\n    return sum",
        },
    ),
    Mistake(
        "not in training mode",
        "You don't put the model in training mode, so after an evaluation, dropout would stay "
        "off. Call `model.train()` first.",
        {"model.train()": "pass"},
        {"model.train()": "model.eval()"},
    ),
    Mistake(
        "target not shifted",
        "The decoder got the target itself, so at each place it reads what it should write "
        "there. Shift it back by one place.",
        {SHIFTED: "target"},
    ),
    Mistake(
        "shifted too far",
        "You shifted the target by two places. One is enough: only the last source point goes "
        "in front.",
        {SHIFTED: "torch.cat([source[:, -2:], target[:, :-2]], dim=1)"},
    ),
    Mistake(
        "source read by the decoder",
        "The decoder got the source. It should read the target, shifted back by one place.",
        {SHIFTED: "torch.cat([source, source], dim=1)"},
    ),
    Mistake(
        "first source point in front",
        "You put the first source point in front of the shifted target. It should be the last one.",
        {SHIFTED: "torch.cat([source[:, :1], target[:, :-1]], dim=1)"},
    ),
    Mistake(
        "zeros in front",
        "You put zeros in front of the shifted target. The last source point belongs there.",
        {SHIFTED: "torch.cat([torch.zeros_like(target[:, :1]), target[:, :-1]], dim=1)"},
    ),
    Mistake(
        "loss against the shifted target",
        "Your loss compares the output with the shifted target, so the model learns to repeat "
        "what it reads. Compare it with the target, and don't overwrite the target when you "
        "shift it.",
        {
            "loss(model(source, shifted_target), target)": (
                "loss(model(source, shifted_target), shifted_target)"
            )
        },
        {
            f"shifted_target = {SHIFTED}": (
                "shifted_target = target\n"
                "        shifted_target[:, 1:] = target[:, :-1].clone()\n"
                "        shifted_target[:, 0] = source[:, -1]"
            )
        },
    ),
    Mistake(
        "loss of the last point only",
        "You took the loss of the last point only. Train all outputs at once.",
        {
            "loss(model(source, shifted_target), target)": (
                "loss(model(source, shifted_target)[:, -1:], target[:, -1:])"
            )
        },
    ),
    Mistake(
        "shapes that broadcast",
        "You compared the last output with all points of the target: [batch, 1, d] against "
        "[batch, n, d] broadcasts without an error. Compare tensors of the same shape.",
        {
            "loss(model(source, shifted_target), target)": (
                "loss(model(source, shifted_target)[:, -1:], target)"
            )
        },
    ),
    Mistake(
        "first output only",
        "You took the loss of the first point only. Train all outputs at once.",
        {
            "loss(model(source, shifted_target), target)": (
                "loss(model(source, shifted_target)[:, :1], target[:, :1])"
            )
        },
    ),
    Mistake(
        "sum of the losses",
        "You returned the sum of the losses. Divide by the number of batches.",
        {" / len(losses)": ""},
    ),
    Mistake(
        "last loss",
        "You returned the loss of the last batch. Return the mean over all batches.",
        {"sum(losses) / len(losses)": "losses[-1]"},
    ),
    Mistake(
        "divided by the squares",
        "You divided by the number of sequences. The loss of a batch is already a mean: "
        "divide by the number of batches.",
        {" / len(losses)": " / sum(len(source) for source, _ in loader)"},
    ),
    Mistake(
        "loss's arguments exchanged",
        "You gave the loss the target first. Call it as `loss(prediction, target)`.",
        {
            "loss(model(source, shifted_target), target)": (
                "loss(target, model(source, shifted_target))"
            )
        },
    ),
    Mistake(
        "a loss of its own",
        "You used the mean squared error, whatever `loss` is. Call `loss` instead.",
        {
            "loss(model(source, shifted_target), target)": (
                "F.mse_loss(model(source, shifted_target), target)"
            )
        },
    ),
    Mistake(
        "sum for mean",
        "You add up all squared errors. Call `loss`, whatever it is; here it takes the mean.",
        {
            "loss(model(source, shifted_target), target)": (
                "F.mse_loss(model(source, shifted_target), target, reduction='sum')"
            )
        },
        {
            "loss(model(source, shifted_target), target)": (
                "F.mse_loss(model(source, shifted_target), target, reduction='sum') / len(source)"
            )
        },
    ),
    Mistake(
        "a loader with an index",
        "A `DataLoader` gives its batches in a loop, and has no index. Write `for … in loader`.",
        {
            "for source, target in loader:": (
                "for number in range(len(loader)):\n        source, target = loader[number]"
            )
        },
    ),
    Mistake(
        "gradients clipped",
        "You clipped the gradients between `backward` and `step`. Leave them as they are.",
        {
            "error.backward()": (
                "error.backward()\n        nn.utils.clip_grad_norm_(model.parameters(), 1.0)"
            )
        },
    ),
    Mistake(
        "a list of losses",
        "You returned the list of losses. Return their mean, one number.",
        {"sum(losses) / len(losses)": "losses"},
    ),
    Mistake(
        "first batch only",
        "Only the first batch was used. An epoch is one pass over all of them: does a `return` "
        "or a `break` end the loop?",
        {"losses.append(error.item())": "losses.append(error.item())\n        break"},
        {"losses.append(error.item())": "return error.item()"},
        {"losses.append(error.item())": "return error.item() / len(loader)"},
    ),
    Mistake(
        "first point dropped from the shifted target",
        "The shifted target lost its first point; it should lose its last. At each place the "
        "decoder reads the point before the one it writes.",
        {"target[:, :-1]": "target[:, 1:]"},
    ),
    Mistake(
        "loss after the step",
        "You took each loss after the step that it led to. Record the one you called "
        "`backward` on.",
        {
            "losses.append(error.item())": (
                "losses.append(loss(model(source, shifted_target), target).item())"
            )
        },
    ),
    Mistake(
        "tensors with their graphs",
        "You kept the losses with the graphs they were made from, so the memory of every "
        "batch stays in use. `error.item()` is the number alone.",
        {"losses.append(error.item())": "losses.append(error)"},
    ),
    Mistake(
        "two passes",
        "All batches were used twice. An epoch is one pass.",
        {"in loader:": "in [*loader, *loader]:"},
    ),
    Mistake(
        "prediction instead of teacher forcing",
        "The decoder got its own predictions. With teacher forcing it gets the true points, "
        "so that one bad point doesn't spoil the ones after it.",
        {
            "loss(model(source, shifted_target), target)": (
                "loss(model(source, torch.cat([source[:, -1:], "
                "model.predict(source)[:, :-1]], 1)), target)"
            )
        },
    ),
    Mistake(
        "weighted by the batch size",
        "You weighted the batches by their sizes. The exercise asks for the mean of their "
        "losses: every batch counts alike.",
        {
            "losses.append(error.item())": (
                "losses.append((error.item() * len(source), len(source)))"
            ),
            "sum(losses) / len(losses)": ("sum(e for e, _ in losses) / sum(n for _, n in losses)"),
        },
    ),
    Mistake(
        "sum over the sequences",
        "`mean_loss` is too large by the size of the batches: you multiplied each loss by its "
        "batch size, and divided by the number of batches only.",
        {"losses.append(error.item())": "losses.append(error.item() * len(source))"},
    ),
    Mistake(
        "rolled around",
        "You rolled the target around, so its last point comes first: one that the decoder has yet "
        "to write. The last source point belongs there.",
        {SHIFTED: "target.roll(1, dims=1)"},
    ),
    Mistake(
        "an optimizer of its own",
        "You made an optimizer of your own. Use the one that you are given.",
        *(
            {"model.train()": f"model.train()\n    optimizer = torch.optim.{made}"}
            for made in (
                "Adam(model.parameters(), lr=0.007)",
                "Adam(model.parameters())",
                "Adam(model.parameters(), lr=0.01)",
                "SGD(model.parameters(), lr=0.01)",
            )
        ),
    ),
    Mistake(
        "divided by the last number",
        "You divided by one batch too few: `enumerate` counts from 0, so its last number is one "
        "less than how many there are.",
        {" / len(losses)": " / (len(losses) - 1)"},
        {" / len(losses)": " / max(len(losses) - 1, 1)"},
    ),
]

ALTERNATIVES = [
    Alternative(
        "sequence, then a slice",
        {
            f"shifted_target = {SHIFTED}": (
                "sequence, n = torch.cat([source, target], dim=1), source.shape[1]\n"
                "        shifted_target = sequence[:, n - 1 : -1]"
            )
        },
        excuses={"detached: torch.cat(": "what it shifts is data: no gradient flows there"},
    ),
    Alternative(
        "cleared at the start",
        {
            "        optimizer.zero_grad()\n": "",
            "    for source, target in loader:\n": (
                "    for source, target in loader:\n        optimizer.zero_grad()\n"
            ),
        },
    ),
    Alternative(
        "cleared before the first batch and after each step",
        {
            "        optimizer.zero_grad()\n": "",
            "model.train()": "model.train()\n    optimizer.zero_grad()",
            "optimizer.step()\n": "optimizer.step()\n        optimizer.zero_grad()\n",
        },
        excuses={"another argument:": "the optimizer has all parameters of the model"},
    ),
    Alternative(
        "a running total",
        {
            "losses = []": "total = n_batches = 0",
            "losses.append(error.item())": (
                "total, n_batches = total + error.item(), n_batches + 1"
            ),
            "sum(losses) / len(losses)": "total / n_batches",
        },
    ),
]
