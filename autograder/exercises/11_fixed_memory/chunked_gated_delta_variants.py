"""Mistakes and alternatives of `chunked_gated_delta`."""

from autograder.lessons.variants import Alternative, Mistake

from .shared import EMPTY, FIRST_CHUNK, OF_CHUNKS, RANGE, SAME_TEXT

TOTAL = "log_decay[..., words].cumsum(dim=-1)"
FADE = "difference.masked_fill(later, -torch.inf).exp()"
DIVIDED_BY = "(total.exp()[..., :, None] / total.exp()"
SYSTEM = "share * fade * (k @ k.transpose(-2, -1))"
MISSING = "share * (v - from_start * (k @ state))"
WITHIN = "fade * (q @ k.transpose(-2, -1))"
CONTEXT = "from_start * (q @ state) + within @ change"
NEW_STATE = "from_start[..., -1:, :] * state + left.transpose(-2, -1) @ change"
APPEND = f"        contexts.append({CONTEXT})\n"
WRITE = f"        left = fade[..., -1, :, None] * k\n        state = {NEW_STATE}\n"
SOLVED = "torch.linalg.solve_triangular(system, missing, upper=False, unitriangular=True)"

MISTAKES = [
    *OF_CHUNKS,
    Mistake(
        "exponentials divided",
        "You divided exp(tᵢ) by exp(tⱼ). After strong decays both are 0, and 0 / 0 is NaN. A clamp "
        "or `nan_to_num` doesn't bring the factor back. Take exp of the difference.",
        {FADE: "(total.exp()[..., :, None] / total.exp()[..., None, :]).masked_fill(later, 0)"},
        {FADE: "(total.exp()[..., :, None] * (-total).exp()[..., None, :]).masked_fill(later, 0)"},
        {FADE: "(total.exp()[..., :, None] / total.exp()[..., None, :]).nan_to_num().tril()"},
        {FADE: f"{DIVIDED_BY}.clamp(min=1e-6)[..., None, :]).tril()"},
        {FADE: f"{DIVIDED_BY}.clamp(min=1e-12)[..., None, :]).tril()"},
    ),
    Mistake(
        "masked after exp",
        "You took exp of all differences and masked afterwards. Above the diagonal they are "
        "positive, and exp may be infinite: infinity times 0 is NaN, here or in the gradient. Set "
        "them to −∞ first.",
        {FADE: "difference.exp() * ~later"},
        {FADE: "difference.exp().tril()"},
        {FADE: "difference.exp().masked_fill(later, 0)"},
    ),
    Mistake(
        "the future left in",
        "You didn't mask the differences above the diagonal, so later words change earlier ones.",
        {FADE: "difference.exp()"},
    ),
    Mistake(
        "a word doesn't see itself",
        "In the contexts, a word has to see its own change, too. Only the system goes without the "
        "diagonal.",
        {WITHIN: f"({WITHIN}).tril(-1)"},
    ),
    Mistake(
        "the diagonal in the system",
        "Your system counts each word's own change twice: its diagonal is 1, not 1 + A. Either use "
        "`unitriangular=True`, or take A below the diagonal and add I.",
        {
            SOLVED: "torch.linalg.solve_triangular(system + torch.eye(k.shape[-2], dtype=k.dtype), "
            "missing, upper=False)"
        },
    ),
    Mistake(
        "A without I",
        "You solved A U = B. It's I + A: `solve_triangular` divides by the diagonal, which should "
        "be all ones. With `unitriangular=True`, it takes it to be that.",
        {SOLVED: SOLVED.replace("(system", "(system.tril(-1)").replace(", unitriangular=True", "")},
        {SOLVED: SOLVED.replace(", unitriangular=True", "")},
    ),
    Mistake(
        "no system",
        "You left out what the words before it in the chunk have changed. That's what the "
        "triangular system is for. (With `upper=True`, torch ignores what is below the diagonal.)",
        {SOLVED: "missing"},
        {SOLVED: SOLVED.replace("upper=False", "upper=True")},
    ),
    Mistake(
        "the wrong sign in the system",
        "You solved (I − A) U = B. What comes before goes out, so it's I + A.",
        {SOLVED: SOLVED.replace("(system", "(-system")},
    ),
    Mistake(
        "values in place of changes",
        "You used the values where the changes belong. The words write their changes, U.",
        {"within @ change": "within @ v"},
        {"left.transpose(-2, -1) @ change": "left.transpose(-2, -1) @ v"},
        {"left.transpose(-2, -1) @ change": "left.transpose(-2, -1) @ (share * v)"},
        {
            "within @ change": "within @ v",
            "left.transpose(-2, -1) @ change": "left.transpose(-2, -1) @ v",
        },
    ),
    Mistake(
        "no decay in the contexts",
        "In the contexts, what a word has changed fades until the query asks: multiply q kᵀ by the "
        "factors, too.",
        {WITHIN: "(q @ k.transpose(-2, -1)).tril()"},
    ),
    Mistake(
        "the keys normalized",
        "You brought the keys to length 1. Take them as they are.",
        {"    contexts = []": "    key = F.normalize(key, dim=-1)\n    contexts = []"},
    ),
    Mistake(
        "the wrong side",
        "You multiplied by I + A. Solve (I + A) U = B for U.",
        {SOLVED: "missing + system.tril(-1) @ missing"},
    ),
    Mistake(
        "one step of the solution",
        "You subtracted A times B. That takes out the changes before it as if they hadn't been "
        "changed themselves. Solve the system.",
        {SOLVED: "missing - system.tril(-1) @ missing"},
    ),
    Mistake(
        "the transposed system",
        "Your system is transposed. In row i, it needs the words j before i.",
        {
            SYSTEM: "(share * fade * (k @ k.transpose(-2, -1))).transpose(-2, -1)",
            "upper=False": "upper=True",
        },
    ),
    Mistake(
        "queries in the system",
        "You used queries in the system. The old answers are what the keys get.",
        {SYSTEM: SYSTEM.replace("k @", "q @")},
    ),
    Mistake(
        "no beta in the system",
        "Your system lacks β. Row i of A is multiplied by βᵢ, like row i of B.",
        {SYSTEM: SYSTEM.removeprefix("share * ")},
    ),
    Mistake(
        "beta of the other word",
        "You multiplied the columns of A by β. It's βᵢ, of the word that writes: a row.",
        {SYSTEM: "share.transpose(-2, -1) * fade * (k @ k.transpose(-2, -1))"},
    ),
    Mistake(
        "no beta on the right side",
        "The right side of your system lacks β.",
        {MISSING: MISSING.removeprefix("share * ")},
    ),
    Mistake(
        "beta on the values alone",
        "On the right side you multiplied only the values by β. It applies to the old answers, "
        "too.",
        {MISSING: "share * v - from_start * (k @ state)"},
    ),
    Mistake(
        "beta twice",
        "You multiplied the changes by β once more. It's in the system already.",
        {"within @ change": "within @ (share * change)"},
        {SOLVED: f"share * {SOLVED}"},
    ),
    Mistake(
        "no decay in the system",
        "Your system lacks the factors exp(tᵢ − tⱼ): what word j has changed fades until word i.",
        {SYSTEM: "share * (k @ k.transpose(-2, -1))"},
    ),
    Mistake(
        "the state doesn't fade for the keys",
        "The old answer comes from the state as it has faded until the word: multiply k S by "
        "exp(t).",
        {MISSING: "share * (v - k @ state)"},
    ),
    Mistake(
        "the state doesn't fade for the queries",
        "Your queries ask the state as it was at the chunk's start. Multiply q S by exp(t).",
        {CONTEXT: "q @ state + within @ change"},
    ),
    Mistake(
        "the old answers stay",
        "You wrote the values without taking out what the state held for their keys.",
        {MISSING: "share * v"},
    ),
    Mistake(
        "the state doesn't fade over a chunk",
        "From chunk to chunk your state doesn't fade. Multiply it by exp of the last word's t.",
        {NEW_STATE: "state + left.transpose(-2, -1) @ change"},
    ),
    Mistake(
        "what is written doesn't fade",
        "In the new state, what a word has written fades until the end of the chunk: multiply by "
        "exp(t − tⱼ), with the last word's t.",
        {"fade[..., -1, :, None] * k": "k"},
    ),
    Mistake(
        "faded from the start",
        "In the new state, what word j has written fades from j on, by exp(t − tⱼ), not "
        "from the start of the chunk.",
        {"fade[..., -1, :, None] * k": "from_start * k"},
    ),
    Mistake(
        "a decay too late",
        "Your running sum begins with 0, so each word fades by the decay of the word before. The "
        "sum includes the word's own.",
        {TOTAL: f"{TOTAL} - log_decay[..., words]"},
    ),
    Mistake(
        "a running product",
        "You multiplied the logarithms. Add them up: `cumsum`.",
        {TOTAL: TOTAL.replace("cumsum", "cumprod")},
    ),
    Mistake(
        "no running sum",
        "You used each word's own decay. From word to word they add up: `cumsum`.",
        {TOTAL: "log_decay[..., words]"},
    ),
    Mistake(
        "the sum over another dimension",
        "Your running sum runs along the first dimension. With a batch, that isn't the words. In "
        "`log_decay`, they are last: `cumsum(dim=-1)`.",
        {TOTAL: TOTAL.replace("dim=-1", "dim=0")},
    ),
    Mistake(
        "the sum over the whole text",
        "Your running sum goes on from chunk to chunk, but the state has faded already. Begin anew "
        "in each chunk.",
        {TOTAL: "log_decay.cumsum(dim=-1)[..., words]"},
    ),
    Mistake(
        "without their own chunk",
        "Your words see only earlier chunks.",
        {CONTEXT: "from_start * (q @ state)"},
    ),
    Mistake(
        "without the state",
        "Your words see only the changes in their own chunk. Add what the state answers.",
        {CONTEXT: "within @ change"},
    ),
    Mistake(
        "written before it is read",
        "You wrote the chunk into the state before its words asked. Ask first.",
        {APPEND + WRITE: WRITE + APPEND},
    ),
    Mistake(
        "a state for each chunk",
        "Your state holds only the last chunk. Add each chunk to what it held, faded.",
        {NEW_STATE: "left.transpose(-2, -1) @ change"},
    ),
    Mistake(
        "word by word",
        "The result is right, but you went word by word. Within a chunk, compute all words at "
        "once.",
        f"""
        if state is None:
            state = {EMPTY}
        contexts = []
        for word in range(query.shape[-2]):
            context, state = gated_delta_step(
                state,
                *(x[..., word, :] for x in (query, key, value)),
                *(x[..., word] for x in (beta, log_decay)),
            )
            contexts.append(context)
        return torch.stack(contexts, dim=-2), state
        """,
    ),
    Mistake(
        "all at once",
        "The result is right, but you took the whole text as one chunk.",
        {RANGE: "range(0, query.shape[-2], query.shape[-2])", "start + chunk": "query.shape[-2]"},
    ),
    Mistake(
        "the difference the other way round",
        "You took tⱼ − tᵢ, which grows where it should fade. The factor is exp(tᵢ − tⱼ), with i "
        "for the later word.",
        {"total[..., :, None] - total[..., None, :]": "total[..., None, :] - total[..., :, None]"},
    ),
    Mistake(
        "0 filled in before exp",
        "You filled in 0 before `exp`, and exp(0) is 1, so later words count in full. Fill in −∞.",
        {"difference.masked_fill(later, -torch.inf)": "difference.masked_fill(later, 0.0)"},
    ),
]

ALTERNATIVES = [
    Alternative(
        "with an inverse",
        f"""
        if state is None:
            state = {EMPTY}
        parts = [x.split(chunk, dim=-2) for x in (query, key, value)]
        gates = [x.split(chunk, dim=-1) for x in (beta, log_decay)]
        contexts = []
        for q, k, v, b, g in zip(*parts, *gates, strict=True):
            c = g.cumsum(-1)
            gap = (c.unsqueeze(-1) - c.unsqueeze(-2)).clamp(max=0).exp().tril()
            eye = torch.eye(k.shape[-2], dtype=k.dtype)
            a = (b.unsqueeze(-1) * gap * (k @ k.mT)).tril(-1)
            old = c.exp().unsqueeze(-1) * (k @ state)
            u = torch.linalg.solve(eye + a, b.unsqueeze(-1) * (v - old))
            contexts.append(c.exp().unsqueeze(-1) * (q @ state) + (gap * (q @ k.mT)) @ u)
            rest = (c[..., -1:] - c).exp().unsqueeze(-1)
            state = c[..., -1:, None].exp() * state + (rest * k).mT @ u
        return torch.cat(contexts, dim=-2), state
        """,
        excuses={
            "another number: 0 → 1": "it bounds what is above the diagonal, where `tril` puts 0",
            "keyword dropped: torch.eye": "the sum takes the dtype of the keys",
        },
    ),
    Alternative(
        "with torch.where",
        {FADE: "torch.where(later, -torch.inf, difference).exp()"},
    ),
]

EXCUSES = {
    "another fill": "its exponential is 0, too",
    "another argument: key → value in key.new_zeros": "only the dtype comes from it",
    "another argument: key → beta in key.new_zeros": "likewise",
    "another argument: key → log_decay in key.new_zeros": "likewise",
    "another argument: key → query in": SAME_TEXT,
    "another argument: key → value in *key.shape": SAME_TEXT,
    "another argument: query → key in range": SAME_TEXT,
    "another argument: query → value in range": SAME_TEXT,
    **FIRST_CHUNK,
}
