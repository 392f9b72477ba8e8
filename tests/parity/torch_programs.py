"""Random programs over the ops of engine/ops.h, computed by PyTorch in double.

A program is a list of steps, and step i computes value i. RUN says what each op is in PyTorch;
torch_draws.py chooses the arguments and attributes. README.md has the format.
"""
import math

import numpy as np
import torch
import torch.nn.functional as F

from fledge_run import Rng

# -- what each op is: f(arguments, step) -----------------------------------------------------------

def numbers(entry):
    return torch.tensor(entry["numbers"], dtype=torch.int64).reshape(entry["shape"])


def visible(mask, shape):
    """Whether query i may look at key j, for scores of this shape."""
    queries, keys = shape[-2:]
    place = torch.arange(queries)[:, None] + keys - queries
    key = torch.arange(keys)
    seen = torch.ones(shape, dtype=torch.bool)
    if mask.get("causal"):
        seen = seen & (key <= place)
    if "window" in mask:
        seen = seen & ((key - place).abs() < mask["window"])
    if "lengths" in mask:
        lengths = torch.tensor(mask["lengths"]).reshape(-1, *[1] * (len(shape) - 1))
        seen = seen & (key < lengths)
    if "table" in mask:
        seen = seen & numbers(mask["table"]).bool()
    return seen


def softmax(x, seen):
    """Over what is seen. A row that sees nothing is zeros."""
    blind = ~seen.any(-1, keepdim=True)
    return x.masked_fill(~seen & ~blind, -math.inf).softmax(-1).masked_fill(blind, 0)


def attention(q, k, v, step):
    def heads(x):
        return x.reshape(*x.shape[:-1], step["heads"], -1).transpose(-3, -2)
    q, k, v = heads(q), heads(k), heads(v)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    y = softmax(scores, visible(step["mask"], scores.shape)) @ v
    return y.transpose(-3, -2).flatten(-2)


def axes_of(x, step):
    return [axis % x.dim() for axis in step["axes"]] or list(range(x.dim()))


def reduced(f):
    def run(a, s):
        return f(a[0], axes_of(a[0], s), s["keep_axes"]) if a[0].dim() else a[0] * 1
    return run


def first_largest(x, axes, keep):
    """The gradient goes to the first of several largest numbers; amax would divide it."""
    rest = [axis for axis in range(x.dim()) if axis not in axes]
    rows = x.permute(*rest, *axes).reshape(*[x.size(axis) for axis in rest], -1)
    y = rows.gather(-1, rows.argmax(-1, keepdim=True)).squeeze(-1)
    for axis in sorted(axes) if keep else []:
        y = y.unsqueeze(axis)
    return y


def dropout(a, s):
    rng = Rng(s["seed"])
    kept = [rng.uniform() >= s["p"] for _ in range(a[0].numel())]
    return a[0] * torch.tensor(kept).reshape(a[0].shape) / (1 - s["p"])


def cross_entropy(a, s):
    return F.cross_entropy(a[0].reshape(-1, a[0].size(-1)), numbers(s["targets"]).flatten(),
                           ignore_index=s.get("ignored", -100))


def scores(a):
    return a[0] @ a[1].transpose(-2, -1)


def masked_scores(a, s):
    return softmax(scores(a), visible(s["mask"], scores(a).shape))


def weighted_sum(a, s):
    return a[0].masked_fill(~visible(s["mask"], a[0].shape), 0) @ a[1]


RUN = {
    "add": lambda a, s: a[0] + a[1],
    "sub": lambda a, s: a[0] - a[1],
    "mul": lambda a, s: a[0] * a[1],
    "div": lambda a, s: a[0] / a[1],
    "neg": lambda a, s: -a[0],
    "pow": lambda a, s: a[0] ** a[1],
    "pow of a number": lambda a, s: a[0] ** s["exponent"],
    "where": lambda a, s: torch.where(numbers(s["condition"]).bool(), a[0], a[1]),
    "exp": lambda a, s: a[0].exp(),
    "log": lambda a, s: a[0].log(),
    "sqrt": lambda a, s: a[0].sqrt(),
    "tanh": lambda a, s: a[0].tanh(),
    "sigmoid": lambda a, s: a[0].sigmoid(),
    "relu": lambda a, s: a[0].relu(),
    "gelu": lambda a, s: F.gelu(a[0]),
    "gelu_tanh": lambda a, s: F.gelu(a[0], approximate="tanh"),
    "sum": reduced(lambda x, axes, keep: x.sum(axes, keep)),
    "mean": reduced(lambda x, axes, keep: x.mean(axes, keep)),
    "max": reduced(first_largest),
    "matmul": lambda a, s: a[0] @ a[1],
    "linear": lambda a, s: F.linear(a[0], a[1].T, a[2] if len(a) > 2 else None),
    "matmul_transposed": lambda a, s: a[0] @ a[1].T,
    "cosine_similarity": lambda a, s: F.cosine_similarity(a[0], a[1], s["axis"], 0.0),
    "reshape": lambda a, s: a[0].reshape(s["shape"]),
    "permute": lambda a, s: a[0].permute(s["order"]),
    "transpose": lambda a, s: a[0].transpose(*s["axes"]),
    "slice": lambda a, s: a[0].narrow(s["axis"], s["begin"], s["end"] - s["begin"]),
    "concat": lambda a, s: torch.cat(a, s["axis"]),
    "split": lambda a, s: a[0].tensor_split(s["parts"], s["axis"])[s["part"]],
    "softmax": lambda a, s: a[0].softmax(-1),
    "softmax masked": lambda a, s: softmax(a[0], visible(s["mask"], a[0].shape)),
    "log_softmax": lambda a, s: a[0].log_softmax(-1),
    "attention": lambda a, s: attention(*a[0].split(a[0].size(-1) // 3, -1), s),
    "attention of separate tensors": lambda a, s: attention(*a, s),
    "attention_scores": lambda a, s: scores(a),
    "attention_scores masked, softmax": masked_scores,
    "weighted_sum": weighted_sum,
    "layer_norm": lambda a, s: F.layer_norm(a[0], a[0].shape[-1:], a[1], a[2], s["eps"]),
    "embedding": lambda a, s: F.embedding(numbers(s["ids"]), a[0]),
    "embedding with positions": lambda a, s: F.embedding(numbers(s["ids"]), a[0]) + a[1].narrow(
        0, s["first"], s["ids"]["shape"][-1]),
    "cross_entropy": cross_entropy,
    "dropout": dropout,
}


# -- programs --------------------------------------------------------------------------------------

class Program:
    """`steps` as in the JSON, and the value of each step. A step "input" has its numbers there."""

    def __init__(self, rng, most=600):
        self.rng, self.most = rng, most  # the most numbers of a value
        self.steps, self.values = [], []

    def shape(self, i):
        return list(self.values[i].shape)

    def input(self, numbers):
        self.steps.append({"op": "input", "from": []})
        self.values.append(torch.tensor(numbers, dtype=torch.float64))
        return len(self.steps) - 1

    def loose(self):
        """The values that the loss is made of: the inputs, and what no step uses."""
        used = {i for step in self.steps for i in step["from"]}
        return [i for i, step in enumerate(self.steps) if step["op"] == "input" or i not in used]

    def compute(self, dtype, cotangents):
        """Every value, and the gradient of every input for the loss Σ ⟨cotangent, value⟩."""
        values, leaves = [], {}
        for i, step in enumerate(self.steps):
            if step["op"] == "input":
                leaves[i] = self.values[i].to(dtype).requires_grad_()
                values.append(leaves[i])
            else:
                values.append(RUN[step["op"]]([values[j] for j in step["from"]], step))
        loss = sum((values[i] * torch.tensor(c, dtype=dtype)).sum() for i, c in cotangents.items())
        gradients = torch.autograd.grad(loss, leaves.values())
        return [y.detach().double() for y in values], dict(zip(leaves, gradients))


def is_close(a, b, tolerance):
    """Whether the largest difference is small beside the largest number."""
    return bool((a - b).abs().max() <= tolerance * b.abs().max())


def try_step(program, op, draw):
    """Adds a step, unless float32 cannot compute its value: then double would have too few digits.
    Nor is a step added whose numbers are large, all small, or too many."""
    before = len(program.steps)
    drawn = draw(program)
    if drawn is not None:
        arguments, attributes = drawn
        step = {"op": op, "from": arguments, **attributes}
        inputs = [program.values[i] for i in arguments]
        y = RUN[op](inputs, step)
        if 0 < y.numel() <= program.most and 1e-2 < y.abs().max() < 30 and is_close(
                RUN[op]([x.float() for x in inputs], step).double(), y, 1e-5):
            program.steps.append(step)
            program.values.append(y)
            return
    del program.steps[before:], program.values[before:]


def dump_of(program):
    """The JSON and the tensors of a program; None if float32 cannot compute its gradients."""
    cotangents = {i: program.rng.uniform(0.5, 1.5, program.shape(i)) for i in program.loose()}
    values, gradients = program.compute(torch.float64, cotangents)
    rounded, rounded_gradients = program.compute(torch.float32, cotangents)
    pairs = zip([*rounded, *rounded_gradients.values()], [*values, *gradients.values()])
    if not all(is_close(a.double(), b, 1e-3) for a, b in pairs):
        return None
    tensors = {f"cotangent.{i}": c for i, c in cotangents.items()}
    tensors.update({f"value.{i}": y.numpy() for i, y in enumerate(values)})
    tensors.update({f"gradient.{i}": g.numpy() for i, g in gradients.items()})
    return {"steps": program.steps}, tensors


def random_program(ops, draws, rng, length, most):
    program = Program(rng, most)
    while sum(step["op"] != "input" for step in program.steps) < length:
        op = ops[rng.integers(len(ops))]
        try_step(program, op, draws[op])
    return program


def programs(count, seed, draws, cases):
    """The given cases; for each op a program with that op alone; and random programs of 5 to 40
    steps. Each is a dump."""
    assert draws.keys() == RUN.keys()
    for op, inputs, attributes in cases:
        program = Program(np.random.default_rng(seed))
        arguments = [program.input(x) for x in inputs]
        program.steps.append({"op": op, "from": arguments, **attributes})
        program.values.append(RUN[op]([program.values[i] for i in arguments], program.steps[-1]))
        yield dump_of(program)
    for number in range(len(RUN) + count):
        for attempt in range(100):
            rng = np.random.default_rng([seed, number, attempt])
            alone = list(RUN)[number:number + 1]
            length = 1 if alone else int(rng.integers(5, 41))
            dump = dump_of(random_program(alone or list(RUN), draws, rng, length,
                                          4000 if number % 4 == 0 else 200))
            if dump is not None:
                break
        if dump is None:
            raise RuntimeError(f"program {number}: 100 draws, and float32 computes none of them")
        yield dump
