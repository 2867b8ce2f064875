"""The known mistakes of `tiled_attention`, and other right solutions."""

from autograder.lessons.variants import Alternative, Mistake

from .shared import SAME_SIZES

QUERY_TILE = "query[..., first : first + tile_query, :]"
KEY_TILE = "key[..., start : start + tile_key, :]"
VALUE_TILE = "value[..., start : start + tile_key, :]"
PLACE = "torch.arange(first, first + queries.shape[-2]) + n_key - n_query"
FUTURE = "torch.arange(start, start + scores.shape[-1]) > place[:, None]"
START = "    contexts, logsumexps = [], []\n"
STEP = "state = online_step(state, scores, value[..., start : start + tile_key, :])"
DIVIDED = "state = *state[:2], state[2] / state[1][..., None]"
ADDED = (
    f"new = {STEP[8:]}\n"
    f"            state = *new[:2], state[2] + scores.softmax(dim=-1) @ {VALUE_TILE}"
)
LOGSUMEXP = "largest + total.log()"
ALL_AT_ONCE = """
scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
if causal:
    n_query, n_key = scores.shape[-2:]
    keep = torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query)
    scores = scores.masked_fill(~keep, -torch.inf)
return scores.softmax(dim=-1) @ value, scores.logsumexp(dim=-1)
"""

MISTAKES = [
    Mistake(
        "not scaled",
        "Your scores aren't divided by √d.",
        {" / query.shape[-1] ** 0.5": ""},
    ),
    Mistake("divided by d", "You divided by d, not by √d.", {" ** 0.5": ""}),
    Mistake(
        "scaled by another size",
        "You divided by the root of the wrong size. d is the number of features.",
        {"query.shape[-1] ** 0.5": "n_key ** 0.5"},
        {"query.shape[-1] ** 0.5": "tile_key ** 0.5"},
    ),
    Mistake(
        "causal ignored",
        "You didn't mask anything for `causal=True`.",
        {
            "if causal:": "if False:",
            "            if causal and start > place[-1]:\n                break\n": "",
        },
    ),
    Mistake(
        "the mask's corner at the top left",
        "Your mask takes query 0 for the first word. The queries are the last n_query of n_key "
        "words: query 0 is at place n_key − n_query.",
        {PLACE: "torch.arange(first, first + queries.shape[-2])"},
    ),
    Mistake(
        "the offset upside down",
        "Your offset is upside down, so your queries are at places before the text, and see "
        "nothing. Query 0 is at place n_key − n_query.",
        {PLACE: PLACE.replace("n_key - n_query", "n_query - n_key")},
    ),
    Mistake(
        "the word itself hidden",
        "Your queries don't see their own word. Only later ones are hidden.",
        {FUTURE: FUTURE.replace(">", ">="), "start > place[-1]": "start >= n_key"},
    ),
    Mistake(
        "the next word seen",
        "Each of your queries sees one word that comes after it.",
        {FUTURE: f"{FUTURE} + 1"},
        {PLACE: f"{PLACE} + 1"},
    ),
    Mistake(
        "masked with a number",
        "Your masked scores are a finite number, and real scores may be lower. Use −∞.",
        {"masked_fill(later, -torch.inf)": "masked_fill(later, -1e4)"},
        {"masked_fill(later, -torch.inf)": "masked_fill(later, -100.0)"},
    ),
    Mistake(
        "a tile across the diagonal",
        "You don't mask every tile that needs it. A tile that starts before a query's place "
        "may end after it.",
        {"if causal:\n    ": "if causal and start > place[0]:\n    "},
    ),
    Mistake(
        "a skip that counts from query 0",
        "You skip tiles as if query 0 were the first word: n_key − n_query is missing there.",
        {"start > place[-1]": "start > first + tile_query"},
        {"start > place[-1]": "start >= first + tile_query"},
        {"start > place[-1]": "start > first + queries.shape[-2] - 1"},
    ),
    Mistake(
        "a tile skipped too early",
        "You skip a tile although the last query of the tile may see some of it. A tile is "
        "in the future only if its first key comes after the last query.",
        {"start > place[-1]": "start > place[0]"},
        {"start > place[-1]": "start + tile_key > place[-1] + 1"},
    ),
    Mistake(
        "places counted in the tile",
        "Your mask counts places from the start of each tile. Add where the tile begins.",
        {FUTURE: "torch.arange(scores.shape[-1]) > place[:, None]"},
        {PLACE: "torch.arange(queries.shape[-2]) + n_key - n_query"},
        {FUTURE: "torch.ones(queries.shape[-2], scores.shape[-1], dtype=torch.bool).triu(1)"},
    ),
    Mistake(
        "the last keys dropped",
        "You drop the last keys if they don't fill a tile.",
        {"range(0, n_key, tile_key)": "range(0, n_key - tile_key + 1, tile_key)"},
    ),
    Mistake(
        "the last queries dropped",
        "You drop the last queries if they don't fill a tile.",
        {
            "range(0, n_query, tile_query)": (
                "range(0, max(1, n_query - tile_query + 1), tile_query)"
            )
        },
    ),
    Mistake(
        "tile sizes exchanged",
        "You took the size of the query tiles for the keys, or the other way around.",
        {KEY_TILE: "key[..., start : start + tile_query, :]"},
        {"range(0, n_key, tile_key)": "range(0, n_key, tile_query)"},
        {START: f"    tile_query, tile_key = tile_key, tile_query\n{START}"},
        {START: f"    tile_key = tile_query\n{START}"},
    ),
    Mistake(
        "tile sizes taken for numbers of tiles",
        "You made `tile_query` tiles of queries and `tile_key` tiles of keys. They are sizes: how "
        "many queries and keys are in one tile.",
        {
            START: "    tile_query = -(-query.shape[-2] // tile_query)\n"
            f"    tile_key = -(-key.shape[-2] // tile_key)\n{START}"
        },
    ),
    Mistake(
        "a tile size ignored",
        "Your tiles have sizes of their own. Take `tile_query` queries and `tile_key` keys at a "
        "time.",
        {START: f"    tile_key = 16\n{START}"},
        {START: f"    tile_query = 16\n{START}"},
        {START: f"    tile_query = tile_key = 16\n{START}"},
    ),
    Mistake(
        "the values of another tile",
        "Your values aren't those of the tile. Cut them as you cut the keys.",
        {VALUE_TILE: "value[..., : scores.shape[-1], :]"},
    ),
    Mistake(
        "a state for everything",
        "All your tiles of queries share one state. Each starts with (−∞, 0, 0).",
        {
            "state = nothing - torch.inf, nothing, torch.zeros_like(queries)": (
                "if first == 0 or state[0].shape != nothing.shape:\n"
                "            state = nothing - torch.inf, nothing, torch.zeros_like(queries)"
            )
        },
    ),
    Mistake(
        "a maximum that starts at a number",
        "Your maximum starts at a finite number. It has to start at −∞: if all scores are far "
        "below that number, every `exp` is 0.",
        {"nothing - torch.inf, nothing,": "nothing, nothing,"},
        {"nothing - torch.inf, nothing,": "nothing - 100, nothing,"},
        {"nothing - torch.inf, nothing,": "nothing - 1e4, nothing,"},
    ),
    Mistake(
        "a state for each tile of keys",
        "You start a new state with each tile of keys, so only the last one counts. It goes on "
        "from tile to tile.",
        {
            "state = online_step(state, scores,": (
                "state = online_step((nothing - torch.inf, nothing, "
                "torch.zeros_like(queries)), scores,"
            )
        },
    ),
    Mistake(
        "a softmax in each tile",
        "You took a softmax within each tile, so each tile's weights sum to 1 on their own. Give "
        "`online_step` the scores themselves, and divide once, after the last tile of keys.",
        {"online_step(state, scores,": "online_step(state, scores.softmax(dim=-1),"},
        {STEP: ADDED, "contexts.append(output / total[..., None])": "contexts.append(output)"},
        {STEP: ADDED},
    ),
    Mistake(
        "the sum not as a column",
        "You divided by ℓ along the features. It has one number for each query: make it a column, "
        "`[..., None]`.",
        {"output / total[..., None]": "output / total"},
    ),
    Mistake(
        "divided after each tile",
        "You divide by ℓ after each tile of keys, so the next one is added to something that has "
        "been divided already. Divide once, after the last tile.",
        {
            STEP: f"{STEP}\n            {DIVIDED}",
            "contexts.append(output / total[..., None])": "contexts.append(output)",
        },
        {STEP: f"{STEP}\n            {DIVIDED}"},
    ),
    Mistake(
        "a little added to the sum",
        "You added a small number to ℓ. It's never 0 here, and what you add makes the context "
        "a little too small.",
        {"output / total[..., None]": "output / (total[..., None] + 1e-6)"},
    ),
    Mistake(
        "not divided",
        "Your contexts aren't divided by ℓ.",
        {"output / total[..., None]": "output"},
    ),
    Mistake(
        "the maximum as logsumexp",
        "You returned the maximum for the logsumexp. It is m + ln ℓ.",
        {LOGSUMEXP: "largest"},
    ),
    Mistake(
        "the sum as logsumexp",
        "You returned ℓ, or its logarithm, for the logsumexp. It is m + ln ℓ.",
        {LOGSUMEXP: "total.log()"},
        {LOGSUMEXP: "total"},
    ),
    Mistake(
        "the sum without its logarithm",
        "The logsumexp is m + ln ℓ, and you left out the logarithm.",
        {LOGSUMEXP: "largest + total"},
    ),
    Mistake(
        "the exponential of the logsumexp",
        "You returned the sum of the exponentials, which overflows. Return its logarithm, "
        "m + ln ℓ.",
        {LOGSUMEXP: "largest.exp() * total"},
    ),
    Mistake(
        "all at once",
        "The values are right, but you made all the scores at once. Make them a tile at a time.",
        ALL_AT_ONCE,
    ),
    Mistake(
        "rows of scores",
        "The values are right, but you made whole rows of scores. Take the keys in tiles, too.",
        {"contexts, logsumexps = [], []\n": ("contexts, logsumexps, tile_key = [], [], n_key\n")},
    ),
]

ALTERNATIVES = [
    Alternative(
        "split into tiles",
        """
            root, n_key, done = query.shape[-1] ** 0.5, key.shape[-2], []
            place = torch.arange(query.shape[-2]) + n_key - query.shape[-2]
            for queries, rows in zip(query.split(tile_query, -2), place.split(tile_query)):
                most = torch.full_like(queries[..., 0], -torch.inf)
                state = most, torch.zeros_like(most), torch.zeros_like(queries)
                places = torch.arange(n_key).split(tile_key)
                for keys, values, columns in zip(
                    key.split(tile_key, -2), value.split(tile_key, -2), places
                ):
                    scores = torch.einsum("...qd,...kd->...qk", queries, keys) / root
                    if causal:
                        hidden = columns[None] > rows[:, None]
                        scores = torch.where(hidden, -torch.inf, scores)
                    state = online_step(state, scores, values)
                done.append((state[2] / state[1][..., None], state[0] + state[1].log()))
            contexts, logsumexps = zip(*done)
            return torch.cat(contexts, -2), torch.cat(logsumexps, -1)
            """,
        excuses={
            "another argument": SAME_SIZES,
            "another number": "every feature has the same shape",
            "call dropped: torch.zeros_like": "at first, it is multiplied by 0",
        },
    ),
    Alternative(
        "written into place",
        {
            "    contexts, logsumexps = [], []\n": (
                "    contexts = torch.empty(*query.shape[:-1], value.shape[-1], "
                "dtype=query.dtype)\n"
                "    logsumexps = torch.empty(query.shape[:-1], dtype=query.dtype)\n"
            ),
            "contexts.append(output / total[..., None])": (
                f"contexts{QUERY_TILE[5:]} = output / total.unsqueeze(-1)"
            ),
            f"logsumexps.append({LOGSUMEXP})": (
                f"logsumexps[..., first : first + tile_query] = {LOGSUMEXP}"
            ),
            "torch.cat(contexts, dim=-2), torch.cat(logsumexps, dim=-1)": ("contexts, logsumexps"),
        },
        excuses={"another argument": SAME_SIZES},
    ),
]
