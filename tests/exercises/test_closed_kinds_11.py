"""Answers to lesson 11's exercises, right and wrong, that none of its files knows."""

from tests.exercises.answers import PASSES, REJECTED, Row, each, said

WRITE = "state + key[..., :, None] * value[..., None, :]"
ASK = "(query[..., None, :] @ state).squeeze(-2)"
CHUNK = "state = state + k.transpose(-2, -1) @ v"
START = "if state is None:"
SOLVE = "change = torch.linalg.solve_triangular(system, missing, upper=False, unitriangular=True)"
LEFT = "left = fade[..., -1, :, None] * k"
LATER = "later = torch.ones_like(difference, dtype=torch.bool).triu(1)"
SHARE = "beta[..., words, None]"
LOOP = """rows = []
        for i in range(k.shape[-2]):
            row = missing[..., i, :]
            for j, other in enumerate(rows):
                row = row - system[..., i, j, None] * other
            rows.append(row)
        change = torch.stack(rows, dim=-2)"""

SUM = "y = (words.unfold(1, width, 1) * weight).sum(dim=-1)"
MEMORY = "memory = Memory() if memory is None else memory"
CONVOLVED = "words, memory.tail = short_convolution(words, self.convolution, memory.tail)"
READ = """context, memory.state = chunked_gated_delta(
            query, key, value, beta, log_decay, state=memory.state
        )"""

LENGTHS = "query, key = F.normalize(query, dim=-1), F.normalize(key, dim=-1)"
BY_LENGTH = "query, key = (y / y.norm(dim=-1, keepdim=True) for y in (query, key))"
JOINED = "words = torch.cat([self.query(x), self.key(x), self.value(x)], dim=-1)"
TOGETHER = "torch.cat([part.weight for part in (self.query, self.key, self.value)])"
JOINED_ONCE = {
    JOINED: "if not hasattr(self, 'joined'):\n"
    f"            self.joined = {TOGETHER}\n"
    "        words = F.linear(x, self.joined)"
}
IN_EVALUATION = {
    JOINED: "if self.training or not hasattr(self, 'joined'):\n"
    f"            self.joined = {TOGETHER}\n"
    "        words = F.linear(x, self.joined)"
}

OTHER_CHUNKS = {
    "one more": "chunk + 1",
    "half": "(chunk + 1) // 2",
    "at most 8": "min(chunk, 8)",
    "the root of the words": "int(query.shape[-2] ** 0.5)",
    "a quarter of the words": "max(query.shape[-2] // 4, 1)",
    "always 8": "8",
    "always 64": "64",
    "the number of chunks": "-(-query.shape[-2] // chunk)",
}
OTHER_ROWS: list[Row] = [
    (f"chunks: {does}", {"    contexts = []": f"    chunk = {size}\n    contexts = []"}, REJECTED)
    for does, size in OTHER_CHUNKS.items()
]

ANSWERS: dict[str, list[Row]] = {
    "linear_attention": [
        ("a feature map", {"query @": "(query.relu() + 1) @"}, REJECTED),
        ("a mean", {"scores @ value": "scores @ value / query.shape[-2]"}, REJECTED),
        ("positive weights", {"return scores": "return scores.relu()"}, REJECTED),
        ("the size of scores", {"return scores": "return scores.abs()"}, REJECTED),
        ("clipped", {"return scores": "return scores.clamp(-50, 50)"}, REJECTED),
        (
            "keys of length 1",
            {"scores = query": "scores = query / key.norm() * key.norm()"},
            PASSES,
        ),
        ("in half precision", {"return scores": "return scores.half().float()"}, REJECTED),
        (
            "small scores left out",
            {"return scores": "return scores * (scores.abs() > 0.1)"},
            REJECTED,
        ),
        (
            "almost 0 for a masked score",
            {
                "scores = scores.tril()": (
                    "hidden = torch.ones_like(scores, dtype=torch.bool).triu(1)\n"
                    "        scores = scores.masked_fill(hidden, 1e-9)"
                )
            },
            "almost 0 for a masked score",
        ),
        (
            "not causal for short texts",
            {"if causal": "if causal and query.shape[-2] > 4"},
            REJECTED,
        ),
        (
            "the mask of the first text",
            {
                "scores = scores.tril()": (
                    "kept = linear_attention.__dict__\n"
                    "        mask = kept.setdefault('mask', torch.ones_like(scores).tril())\n"
                    "        scores = scores * mask"
                )
            },
            REJECTED,
        ),
        ("no gradient for keys", {"key.transpose": "key.detach().transpose"}, REJECTED),
        (
            "a lambda",
            """
            import torch
            linear_attention = lambda query, key, value, causal=True: (
                ((query @ key.mT).tril() if causal else query @ key.mT) @ value
            )
            """,
            PASSES,
        ),
        (
            "loops",
            """
            contexts = []
            for place in range(query.shape[-2]):
                end = place + 1 if causal else key.shape[-2]
                scores = (query[..., place : place + 1, :] * key[..., :end, :]).sum(-1)
                contexts.append((scores[..., None] * value[..., :end, :]).sum(-2))
            return torch.stack(contexts, dim=-2)
            """,
            PASSES,
        ),
    ],
    "linear_step": [
        (
            "in place",
            {f"state = {WRITE}": "state += key[..., :, None] * value[..., None, :]"},
            REJECTED,
        ),
        ("a tanh", {f"state = {WRITE}": f"state = ({WRITE}).tanh()"}, REJECTED),
        ("a scaled query", {ASK: f"{ASK} / query.shape[-1] ** 0.5"}, REJECTED),
        (
            "no gradient through the state",
            {f"state = {WRITE}": f"state = {WRITE.replace('state', 'state.detach()', 1)}"},
            REJECTED,
        ),
        (
            "keys of length 1",
            {"key[..., :, None]": "torch.nn.functional.normalize(key, dim=-1)[..., :, None]"},
            REJECTED,
        ),
        ("a list", {f"return {ASK}, state": f"return [{ASK}, state]"}, PASSES),
        (
            "transposed and back",
            """
            turned = state.mT + value[..., :, None] * key[..., None, :]
            return (turned @ query[..., None])[..., 0], turned.mT
            """,
            PASSES,
        ),
    ],
    "chunked_linear_attention": [
        *OTHER_ROWS,
        (
            "every chunk from the first word on",
            """
            first = key.new_zeros(*key.shape[:-2], key.shape[-1], value.shape[-1])
            first = first if state is None else state
            contexts = []
            for a in range(0, query.shape[-2], chunk):
                words = slice(a, a + chunk)
                q, k, v = query[..., words, :], key[..., words, :], value[..., words, :]
                past = first + key[..., :a, :].mT @ value[..., :a, :]
                contexts.append(q @ past + linear_attention(q, k, v))
            return torch.cat(contexts, dim=-2), first + key.mT @ value
            """,
            REJECTED,
        ),
        (
            "all chunks side by side",
            """
            n = query.shape[-2]
            rest = -n % chunk
            q, k, v = (
                torch.nn.functional.pad(x, (0, 0, 0, rest)).unflatten(-2, (-1, chunk))
                for x in (query, key, value)
            )
            written = k.mT @ v
            before = written.cumsum(dim=-3) - written
            if state is not None:
                before = before + state[..., None, :, :]
            context = (q @ k.mT).tril() @ v + q @ before
            end = written.sum(dim=-3)
            return context.flatten(-3, -2)[..., :n, :], end if state is None else state + end
            """,
            PASSES,
        ),
        ("the given state changed", {CHUNK: "state += k.transpose(-2, -1) @ v"}, REJECTED),
        (
            "no gradient from chunk to chunk",
            {CHUNK: "state = state.detach() + k.transpose(-2, -1) @ v"},
            REJECTED,
        ),
        (
            "a state by the words",
            {CHUNK: "state = state + k.transpose(-2, -1) @ v / k.shape[-2] * chunk"},
            REJECTED,
        ),
        (
            "the last state not written",
            {CHUNK: f"if start + chunk < query.shape[-2]:\n            {CHUNK}"},
            REJECTED,
        ),
        (
            "only the chunk before",
            {CHUNK: "state = k.transpose(-2, -1) @ v"},
            "a state for each chunk",
        ),
        (
            "two halves",
            """
            if state is None:
                state = key.new_zeros(*key.shape[:-2], key.shape[-1], value.shape[-1])
            half = max(1, query.shape[-2] // 2)
            contexts = []
            for start in range(0, query.shape[-2], half):
                words = slice(start, start + half)
                q, k, v = query[..., words, :], key[..., words, :], value[..., words, :]
                contexts.append(q @ state + linear_attention(q, k, v))
                state = state + k.transpose(-2, -1) @ v
            return torch.cat(contexts, dim=-2), state
            """,
            REJECTED,
        ),
        (
            "a mask for the whole text",
            """
            if state is None:
                state = key.new_zeros(*key.shape[:-2], key.shape[-1], value.shape[-1])
            n = query.shape[-2]
            mask = torch.ones(n, n, dtype=query.dtype).tril()
            contexts = []
            for start in range(0, n, chunk):
                words = slice(start, start + chunk)
                q, k, v = query[..., words, :], key[..., words, :], value[..., words, :]
                scores = q @ k.transpose(-2, -1) * mask[words, words]
                contexts.append(scores @ v + q @ state)
                state = state + k.transpose(-2, -1) @ v
            return torch.cat(contexts, dim=-2), state
            """,
            REJECTED,
        ),
        (
            "recursion",
            """
            if state is None:
                state = key.new_zeros(*key.shape[:-2], key.shape[-1], value.shape[-1])
            q, k, v = (x[..., :chunk, :] for x in (query, key, value))
            context = q @ state + linear_attention(q, k, v)
            state = state + k.mT @ v
            if query.shape[-2] <= chunk:
                return context, state
            rest = (x[..., chunk:, :] for x in (query, key, value))
            others, state = chunked_linear_attention(*rest, chunk, state)
            return torch.cat([context, others], dim=-2), state
            """,
            PASSES,
        ),
    ],
    "delta_step": [
        ("beta at most 1", {"beta[..., None] *": "beta.clamp(max=1)[..., None] *"}, REJECTED),
        ("beta through a sigmoid", {"beta[..., None] *": "beta.sigmoid()[..., None] *"}, REJECTED),
        ("in place", {"state = state + key": "state += key"}, REJECTED),
        ("one beta", {"beta[..., None] *": "beta.flatten()[0] *"}, REJECTED),
        (
            "no gradient through the old answer",
            {"(value - old)": "(value - old.detach())"},
            REJECTED,
        ),
        (
            "divided by the key's length",
            {"(value - old)": "(value - old / key.square().sum(-1, keepdim=True))"},
            REJECTED,
        ),
        (
            "a gradient step",
            """
            with torch.enable_grad():
                answer = (key[..., None, :] @ state)[..., 0, :]
            gradient = key[..., :, None] * (answer - value)[..., None, :]
            state = state - beta[..., None, None] * gradient
            return (query[..., None, :] @ state)[..., 0, :], state
            """,
            PASSES,
        ),
    ],
    "gated_delta_step": [
        ("beta at most 1", {"value, beta)": "value, beta.clamp(max=1))"}, REJECTED),
        (
            "nothing of a small factor",
            {"log_decay.exp()": "(log_decay.exp() * (log_decay > -4.6))"},
            REJECTED,
        ),
        ("a base of 2", {"log_decay.exp()": "log_decay.exp2()"}, REJECTED),
        ("never below a percent", {"log_decay.exp()": "log_decay.exp().clamp(min=0.01)"}, REJECTED),
        ("twice", {"faded, query": "log_decay.exp()[..., None, None] * faded, query"}, REJECTED),
        (
            "one decay for all",
            {"log_decay.exp()[": "log_decay.exp().mean().expand_as(log_decay)["},
            REJECTED,
        ),
        ("no gradient for the decay", {"log_decay.exp()": "log_decay.detach().exp()"}, REJECTED),
        ("a root", {"log_decay.exp()": "(log_decay / 2).exp()"}, REJECTED),
        ("by torch.exp", {"log_decay.exp()": "torch.exp(log_decay)"}, PASSES),
        ("the math's e", {"log_decay.exp()": "2.718281828459045 ** log_decay"}, PASSES),
    ],
    "chunked_gated_delta": [
        *OTHER_ROWS,
        ("decays at least −20", {"cumsum(dim=-1)": "clamp(min=-20).cumsum(dim=-1)"}, PASSES),
        ("decays at least −1", {"cumsum(dim=-1)": "clamp(min=-1).cumsum(dim=-1)"}, REJECTED),
        (
            "no gradient from chunk to chunk",
            {
                "state = from_start[..., -1:, :] *": "state = state.detach()\n"
                "        state = from_start[..., -1:, :] *"
            },
            REJECTED,
        ),
        (
            "no gradient for the decay",
            {"log_decay[..., words]": "log_decay.detach()[..., words]"},
            REJECTED,
        ),
        (
            "one decay for all",
            {"log_decay[..., words]": "log_decay.mean().expand_as(log_decay)[..., words]"},
            REJECTED,
        ),
        (
            "a series of two",
            {
                SOLVE: "low = system.tril(-1) @ missing\n"
                "        change = missing - low + system.tril(-1) @ low"
            },
            REJECTED,
        ),
        ("a loop for the system", {SOLVE: LOOP}, PASSES),
        (
            "a series of eight terms",
            {
                SOLVE: "change = term = missing\n"
                "        for _ in range(8):\n"
                "            term = -system.tril(-1) @ term\n"
                "            change = change + term"
            },
            REJECTED,
        ),
        ("a system of 16 words", {SOLVE: SOLVE.replace("(system", "(system.triu(-16)")}, REJECTED),
        ("20 words back", {"within @ change": "within.triu(-20) @ change"}, REJECTED),
        (
            "the last 32 words",
            {LEFT: f"{LEFT} * (torch.arange(k.shape[-2], 0, -1) <= 32)[:, None]"},
            REJECTED,
        ),
        (
            "a mask of 64 words",
            {LATER: "later = torch.ones(64, 64).triu(1).bool()[: k.shape[-2], : k.shape[-2]]"},
            REJECTED,
        ),
        ("beta at most 1", {SHARE: f"{SHARE}.clamp(max=1)"}, REJECTED),
        ("1 where beta is 0", {SHARE: f"{SHARE} + 1.0 * ({SHARE} == 0)"}, REJECTED),
        (
            "by view",
            {"    contexts = []": "    key.view(-1, key.shape[-1])\n    contexts = []"},
            REJECTED,
        ),
    ],
    "short_convolution": [
        (
            "the tail ignored in long texts",
            {"if tail is None:": "if tail is None or x.shape[1] > 16:"},
            REJECTED,
        ),
        (
            "long texts as they are",
            {SUM: f"{SUM}\n    y = torch.cat([y[:, :64], x[:, 64:]], 1)"},
            REJECTED,
        ),
        ("the tail in place", {"words = torch": "tail += 0.0\n    words = torch"}, PASSES),
        ("the tail doubled in place", {"words = torch": "tail *= 2\n    words = torch"}, REJECTED),
        ("no gradient for the tail", {"[tail, x]": "[tail.detach(), x]"}, REJECTED),
        ("in half precision", {"return y,": "y = y.half().float()\n    return y,"}, REJECTED),
        (
            "a band of weights",
            """
            n, width = x.shape[1], weight.shape[1]
            if tail is None:
                tail = x.new_zeros(x.shape[0], width - 1, x.shape[2])
            words = torch.cat([tail, x], dim=1)
            place = torch.arange(n)[:, None] + torch.arange(width)
            return torch.einsum("bnwd,dw->bnd", words[:, place], weight), words[:, n:]
            """,
            PASSES,
        ),
    ],
    "GatedDeltaAttention": [
        (
            "all states kept in the memory",
            {READ: f"{READ}\n        memory.all = getattr(memory, 'all', []) + [memory.state]"},
            REJECTED,
        ),
        (
            "all words kept in the layer",
            {MEMORY: f"{MEMORY}\n        self.seen = [*getattr(self, 'seen', []), x]"},
            REJECTED,
        ),
        (
            "by the memory's id",
            {
                MEMORY: "books = self.__dict__.setdefault('books', {})\n"
                "        memory = books.setdefault(id(memory), Memory()) if memory else Memory()"
            },
            REJECTED,
        ),
        (
            "no state after a long piece",
            {READ: f"{READ}\n        memory.state = memory.state * (x.shape[1] <= 64)"},
            REJECTED,
        ),
        (
            "no tail after two words",
            {CONVOLVED: f"{CONVOLVED}\n        memory.tail = memory.tail * (x.shape[1] != 2)"},
            REJECTED,
        ),
        (
            "a tail of its own layout",
            {
                CONVOLVED: "tail = None if memory.tail is None else memory.tail.flip(2)\n"
                "        words, tail = short_convolution(words, self.convolution, tail)\n"
                "        memory.tail = tail.flip(2)"
            },
            REJECTED,
        ),
        (
            "no gradient from piece to piece",
            {
                "state=memory.state": "state=memory.state if memory.state is None else "
                "memory.state.detach()"
            },
            REJECTED,
        ),
        (
            "the notebook's memory only",
            {MEMORY: "memory = memory if isinstance(memory, Memory) else Memory()"},
            PASSES,
        ),
        ("chunks of one word", {"log_decay, state": "log_decay, 1, state"}, PASSES),
        ("joined weights kept", JOINED_ONCE, REJECTED),
        ("joined weights kept in evaluation", IN_EVALUATION, REJECTED),
        (
            "a kernel of its own",
            {
                CONVOLVED: "self.__dict__.setdefault('kernel', self.convolution * 1)\n        "
                + CONVOLVED.replace("self.convolution", "self.kernel")
            },
            REJECTED,
        ),
        ("the last words kept", {READ: f"{READ}\n        memory.x = x"}, REJECTED),
        (
            "the last state kept in the layer",
            {READ: f"{READ}\n        self.last_state = memory.state"},
            "not_so",
        ),
        (
            "the log of the sigmoid",
            {"F.logsigmoid(self.decay(x))": "self.decay(x).sigmoid().log()"},
            "the log of the sigmoid",
        ),
        (
            "minus softplus of the opposite",
            {"F.logsigmoid(self.decay(x))": "-F.softplus(-self.decay(x))"},
            PASSES,
        ),
        (
            "a state in float32",
            {READ: f"{READ}\n        memory.state = memory.state.float()"},
            REJECTED,
        ),
        ("a larger eps", {LENGTHS: LENGTHS.replace("dim=-1", "dim=-1, eps=0.01")}, REJECTED),
        ("divided by a length of 0", {LENGTHS: BY_LENGTH}, REJECTED),
        (
            "the old state written over",
            {
                READ: READ.replace("memory.state = chunked", "state = chunked")
                + "\n        if memory.state is None or torch.is_grad_enabled():\n"
                "            memory.state = state\n"
                "        else:\n"
                "            memory.state.copy_(state)"
            },
            REJECTED,
        ),
        (
            "its own length",
            {
                "query, key = F.normalize(query, dim=-1), F.normalize(key, dim=-1)": (
                    "query, key = F.normalize(torch.stack([query, key]), dim=-1)"
                )
            },
            PASSES,
        ),
    ],
    "swap_key": [
        (
            "whole numbers",
            {"key = torch.zeros(n)": "key = torch.zeros(n, dtype=torch.int64)"},
            REJECTED,
        ),
        ("rounded", {"0.5**0.5, -": "0.7, -"}, REJECTED),
        ("a row", {"return key": "return key[None]"}, REJECTED),
        ("cups in order", {"key[i], key[j]": "key[min(i, j)], key[max(i, j)]"}, PASSES),
        ("in float64", {"torch.zeros(n)": "torch.zeros(n, dtype=torch.float64)"}, "wrong_dtype"),
    ],
}


@each(ANSWERS)
def test_an_answer_gets_what_it_should(exercise, code, expected):
    assert expected in said(exercise, code)
