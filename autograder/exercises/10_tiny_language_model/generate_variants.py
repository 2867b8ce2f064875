"""The known mistakes of `generate`, and other right solutions."""

from autograder.lessons.variants import Alternative, Mistake

NEW_CACHES = "[Cache() for _ in model.blocks]"
STARTED = f"caches, unread = {NEW_CACHES}, tokens\n"
FULL = "caches[0].length + unread.shape[1] > model.n_context"
AGAIN_FROM = "tokens[:, -(model.n_context // 2) :]"
ASKED = "logits = model(unread, caches)[:, -1]"
CHOSEN = "unread = torch.tensor([[sample(row, **how)] for row in logits])"
STARTS_OVER = f"        if {FULL}:\n            caches, unread = {NEW_CACHES}, {AGAIN_FROM}\n"
JOINED = "tokens = torch.cat([tokens, unread], dim=1)"
FOUR_CACHES = "[Cache() for _ in range(4)]"
THE_LAST = f"caches, unread = {NEW_CACHES}, tokens[:, -1:]\n"

MISTAKES = [
    Mistake(
        "everything again",
        "You read the whole text again for each new token. With caches, only the new token is "
        "left to read.",
        {ASKED: "logits = model(tokens[:, -model.n_context :])[:, -1]"},
        {ASKED: "logits = model(tokens)[:, -1]"},
    ),
    Mistake(
        "everything again, with caches",
        "You give the model the whole text each time, and caches as well. They hold the "
        "earlier tokens already, so these are read twice. Give it only what is new.",
        {ASKED: "logits = model(tokens, caches)[:, -1]"},
        {JOINED: "tokens = unread = torch.cat([tokens, unread], dim=1)"},
    ),
    Mistake(
        "read after the last draw",
        "Your model reads the last new token, too. No draw comes after it, so nobody needs that.",
        {"    return tokens": "    model(unread[:, -1:])\n    return tokens"},
    ),
    Mistake(
        "the last token in a call of its own",
        "You made one call too many: you read all of the text but its last token, and then that "
        "token. Read the whole text at once.",
        {
            STARTED: f"caches = {NEW_CACHES}\n"
            "    if 1 < tokens.shape[1] <= model.n_context:\n"
            "        model(tokens[:, :-1], caches)\n"
            "        unread = tokens[:, -1:]\n"
            "    else:\n"
            "        unread = tokens\n",
        },
        {STARTED: f"{THE_LAST}    model(tokens[:, :-1], caches)\n"},
        """
        caches = [Cache() for _ in model.blocks]
        model(tokens[:, :-1], caches)
        for _ in range(n_new):
            if caches[0].length + 1 > model.n_context:
                caches = [Cache() for _ in model.blocks]
                model(tokens[:, -(model.n_context // 2) : -1], caches)
            logits = model(tokens[:, -1:], caches)[:, -1]
            unread = torch.tensor([[sample(row, **how)] for row in logits])
            tokens = torch.cat([tokens, unread], dim=1)
        return tokens
        """,
    ),
    Mistake(
        "the last token read twice",
        "You read the whole text, and then its last token once more, so the caches hold it twice. "
        "Draw the first new token from what the first call returned.",
        {STARTED: f"{THE_LAST}    model(tokens, caches)\n"},
    ),
    Mistake(
        "the text token by token",
        "Your model reads the text that it is given one token at a time. It reads all of it in one "
        "call.",
        {
            ASKED: (
                "logits = [model(unread[:, i : i + 1], caches) for i in range(unread.shape[1])]"
                "[-1][:, -1]"
            )
        },
    ),
    Mistake(
        "one text at a time",
        "Your model reads one text at a time. It reads all texts of the batch in one call.",
        """
        texts = []
        for text in tokens.split(1):
            caches, unread = [Cache() for _ in model.blocks], text
            for _ in range(n_new):
                if caches[0].length + unread.shape[1] > model.n_context:
                    caches = [Cache() for _ in model.blocks]
                    unread = text[:, -(model.n_context // 2) :]
                logits = model(unread, caches)[:, -1]
                unread = torch.tensor([[sample(row, **how)] for row in logits])
                text = torch.cat([text, unread], dim=1)
            texts.append(text)
        return torch.cat(texts)
        """,
        """
        caches = [[Cache() for _ in model.blocks] for _ in tokens]
        unread = [text[None] for text in tokens]
        for _ in range(n_new):
            for i, text in enumerate(tokens):
                if caches[i][0].length + unread[i].shape[1] > model.n_context:
                    caches[i] = [Cache() for _ in model.blocks]
                    unread[i] = text[None, -(model.n_context // 2) :]
                row = model(unread[i], caches[i])[0, -1]
                unread[i] = torch.tensor([[sample(row, **how)]])
            tokens = torch.cat([tokens, torch.cat(unread)], dim=1)
        return tokens
        """,
    ),
    Mistake(
        "caches not handed on",
        "You made caches, but the model doesn't get them: `model(…, caches)`.",
        {ASKED: "logits = model(unread)[:, -1]"},
    ),
    Mistake(
        "one cache for all blocks",
        "All blocks share one cache: `[Cache()] * n` is the same cache n times. Make a new one "
        "for each.",
        {
            STARTED: "caches, unread = [Cache()] * len(model.blocks), tokens\n",
            f"caches, unread = {NEW_CACHES}, {AGAIN_FROM}": (
                f"caches, unread = [Cache()] * len(model.blocks), {AGAIN_FROM}"
            ),
        },
        {STARTED: "caches, unread = [Cache()] * len(model.blocks), tokens\n"},
    ),
    Mistake(
        "a fixed number of caches",
        "The number of your caches is fixed. Another model has more blocks, or fewer: make one for "
        "each, `[Cache() for _ in model.blocks]`.",
        {
            STARTED: f"caches, unread = {FOUR_CACHES}, tokens\n",
            f"caches, unread = {NEW_CACHES}, {AGAIN_FROM}": (
                f"caches, unread = {FOUR_CACHES}, {AGAIN_FROM}"
            ),
        },
        {STARTED: f"caches, unread = {FOUR_CACHES}, tokens\n"},
        {f"{NEW_CACHES}, {AGAIN_FROM}": f"{FOUR_CACHES}, {AGAIN_FROM}"},
    ),
    Mistake(
        "the logits of the first place",
        "You chose by the logits of the first place. What comes next is at the last one, "
        "`[:, -1]`.",
        {"[:, -1]\n": "[:, 0]\n"},
    ),
    Mistake(
        "only the new tokens",
        "You returned the new tokens alone. Return the whole text.",
        {"    return tokens\n": "    return tokens[:, -n_new:]\n"},
    ),
    Mistake(
        "in front",
        "You put the new tokens in front of the text. Append them.",
        {JOINED: "tokens = torch.cat([unread, tokens], dim=1)"},
    ),
    Mistake(
        "one token too many",
        "You wrote one token too many.",
        {"range(n_new)": "range(n_new + 1)"},
    ),
    Mistake(
        "one token too few",
        "You wrote one token too few.",
        {"range(n_new)": "range(n_new - 1)"},
    ),
    Mistake(
        "no end of the context",
        "Your text outgrows the context: the model has no place for another token. If the next "
        "piece doesn't fit, start over with new caches *before* you read it.",
        {STARTS_OVER: ""},
        {FULL: FULL.replace("model.n_context", "model.n_context + 1")},
    ),
    Mistake(
        "starts over without the newest token",
        "Where you start over, the newest token is missing. Read the last n_context // 2 tokens, "
        "up to the end of the text.",
        {AGAIN_FROM: "tokens[:, -(model.n_context // 2) - 1 : -1]"},
        {AGAIN_FROM: "tokens[:, -(model.n_context // 2) : -1]"},
    ),
    Mistake(
        "starts over with one token more",
        "Where you start over, you read one token too many. Read the last n_context // 2, with the "
        "newest among them.",
        {AGAIN_FROM: "tokens[:, -(model.n_context // 2) - 1 :]"},
    ),
    Mistake(
        "starts over too early",
        "You start over even though the next piece still fits. A piece that exactly fills the "
        "context fits.",
        {FULL: FULL.replace(">", ">=")},
    ),
    Mistake(
        "long texts not cut",
        "A text that's longer than the context from the start doesn't fit. The same rule "
        "helps: read its last n_context // 2 tokens.",
        {FULL: "caches[0].length == model.n_context"},
    ),
    Mistake(
        "long texts cut to the whole context",
        "You cut a text that's too long to n_context tokens. Read its last n_context // 2, so "
        "that there's room for more.",
        {STARTED: STARTED.replace("tokens\n", "tokens[:, -model.n_context :]\n")},
    ),
    Mistake(
        "the length of the text compared",
        "You start over whenever the whole *text* is longer than the context, so after the "
        "first time you start over for every token. Compare what the caches hold, and what is "
        "still unread.",
        {FULL: "tokens.shape[1] > model.n_context"},
    ),
    Mistake(
        "half a context, rounded up",
        "With an odd n_context, you read one token too many again: `-7 // 2` is −4. Write "
        "`-(n // 2)`.",
        {AGAIN_FROM: "tokens[:, -model.n_context // 2 :]"},
    ),
    Mistake(
        "old caches kept",
        "You go on with the old caches, which are full. Start over with new ones.",
        {f"caches, unread = {NEW_CACHES}, {AGAIN_FROM}": f"unread = {AGAIN_FROM}"},
    ),
    Mistake(
        "starts over with the new token alone",
        "After starting over, the model sees only the newest token. Let it read the last "
        "n_context // 2 again.",
        {f"caches, unread = {NEW_CACHES}, {AGAIN_FROM}": f"caches = {NEW_CACHES}"},
        {AGAIN_FROM: "tokens[:, -1:]"},
    ),
    Mistake(
        "starts over with everything that fits",
        "You read a whole context again, so it's full at once, and you start over for each "
        "token. Read only the last n_context // 2 tokens again.",
        {AGAIN_FROM: "tokens[:, -model.n_context :]"},
    ),
    Mistake(
        "starts over with the first tokens",
        "You start over with the beginning of the text. Read its *last* n_context // 2 tokens.",
        {AGAIN_FROM: "tokens[:, : model.n_context // 2]"},
    ),
    Mistake(
        "how not handed on",
        "You didn't pass the arguments on: `sample(…, **how)`.",
        {"sample(row, **how)": "sample(row)"},
    ),
    Mistake(
        "always the likeliest",
        "You take the likeliest token each time. `sample` chooses, with the arguments it gets.",
        {CHOSEN: "unread = logits.argmax(dim=-1, keepdim=True)"},
    ),
    Mistake(
        "the generator not passed on",
        "You kept the generator from `sample`. Pass on all that you are given: `**how`.",
        {
            "sample(row, **how)": (
                'sample(row, **{k: v for k, v in how.items() if k != "generator"})'
            )
        },
    ),
    Mistake(
        "probabilities for logits",
        "You gave `sample` probabilities. It takes logits.",
        {"sample(row, **how)": "sample(row.softmax(dim=-1), **how)"},
    ),
    Mistake(
        "only the first text",
        "You chose one token for all texts of the batch. Each has logits of its own.",
        {CHOSEN: "unread = torch.tensor([[sample(logits[0], **how)]] * len(logits))"},
        {CHOSEN: "unread = sample(logits[0], **how)"},
        {CHOSEN: "unread = torch.tensor(sample(logits[0], **how))"},
    ),
    Mistake(
        "new tokens of another shape",
        "Your new tokens don't fit behind the text. They are one more column, [batch, 1], with a "
        "token for each text: `torch.tensor([[sample(row, **how)] for row in logits])`.",
        {CHOSEN: "unread = torch.tensor([sample(row, **how) for row in logits])"},
        {CHOSEN: "unread = torch.tensor([[sample(row, **how) for row in logits]])"},
        {CHOSEN: "unread = torch.tensor([[sample(logits[0], **how)]])"},
    ),
    Mistake(
        "sample on a batch",
        "You gave `sample` the logits of all texts at once. It takes one row: draw a token for "
        "each text, `[sample(row, …) for row in logits]`.",
        {CHOSEN: "unread = torch.tensor([[sample(logits, **how)]])"},
        {CHOSEN: "unread = sample(logits, **how)"},
        {CHOSEN: "unread = torch.tensor(sample(logits, **how))"},
        {CHOSEN: "unread = torch.tensor([sample(logits, **how)])"},
    ),
    Mistake(
        "one read too many",
        "You read the last token, too, though nothing is drawn after it.",
        {"    return tokens\n": ("    model(unread, caches)\n    return tokens\n")},
    ),
]

ALTERNATIVES = [
    Alternative(
        "with a list",
        """
            texts, caches, unread = [tokens], [], None
            for _ in range(n_new):
                if not caches or caches[0].length + unread.shape[1] > model.n_context:
                    caches = [Cache() for _ in range(len(model.blocks))]
                    whole = torch.cat(texts, dim=1)
                    fits = whole.shape[1] <= model.n_context
                    unread = whole if fits else whole[:, -(model.n_context // 2) :]
                rows = model(unread, caches)[:, -1]
                unread = torch.stack([torch.tensor([sample(row, **how)]) for row in rows])
                texts.append(unread)
            return torch.cat(texts, dim=1)
            """,
        excuses={
            "another number: 0 → -1": "all caches are equally long",
            "elements swapped": "the first round makes new caches",
        },
    ),
    Alternative(
        "until it is long enough",
        {
            "    for _ in range(n_new):\n": (
                "    wanted = tokens.shape[1] + n_new\n    while tokens.shape[1] < wanted:\n"
            ),
            CHOSEN: (
                "drawn = [sample(row, **how) for row in logits]\n"
                "        unread = torch.tensor(drawn).view(-1, 1)"
            ),
        },
    ),
]
