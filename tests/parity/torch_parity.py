#!/usr/bin/python3
"""Computes with PyTorch, in double, what fledge computed, and compares.

  build/tests/parity | torch_parity.py

README.md describes the lines. Every line is also judged with one number changed by a millionth, or
to NaN: all of these must be found. Exit status: 0 all agree, 1 not. Needs PyTorch and NumPy.
"""
import json
import math
import random
import sys

import torch
import torch.nn.functional as F

from gpt import GPT


class Rng:
    """SplitMix64 (engine/base/random.h)."""

    MASK, GAMMA = 2**64 - 1, 0x9E3779B97F4A7C15

    def __init__(self, seed):
        self.key, self.counter = self.mix(seed + self.GAMMA & self.MASK), 0

    def mix(self, z):
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & self.MASK
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & self.MASK
        return z ^ (z >> 31)

    def uniform(self):
        self.counter += 1
        return (self.mix(self.key + self.GAMMA * self.counter & self.MASK) >> 11) * 2.0**-53


# The largest errors: max |fledge − PyTorch| ÷ max |PyTorch|
OF_ROW, OF_MODEL, OF_STEPS = 1e-11, 1e-10, 1e-9

# -- what each row of engine/gradcheck/op_cases.cpp is in PyTorch ----------------------------------

IDS = torch.tensor([[4, 0, 4], [1, 4, 2]])
CLASS_WEIGHTS = torch.tensor([0.5, 2, 1, 0, 3], dtype=torch.float64)
SOME_TRUE = torch.tensor([[1, 0, 0], [1, 1, 0]]).bool()


def mask(queries, keys, causal=False, window=None, lengths=None, table=None, documents=None):
    """Whether query i may look at key j: (queries, keys), or (batch, 1, queries, keys) with lengths."""
    position = torch.arange(queries)[:, None] + keys - queries
    key = torch.arange(keys)
    seen = torch.ones(queries, keys, dtype=torch.bool)
    if causal:
        seen = seen & (key <= position)
    if window:
        seen = seen & ((key - position).abs() < window)
    if table:
        seen = seen & torch.tensor(table).reshape(queries, keys).bool()
    if documents:
        owner = torch.arange(len(documents)).repeat_interleave(torch.tensor(documents))
        seen = seen & (owner[:, None] == owner)
    if lengths:
        seen = seen & (key < torch.tensor(lengths)[:, None, None, None])
    return seen


SOME_HIDDEN = {"table": [1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0]}


def seen_by(scores, rule):
    """The mask for scores (…, queries, keys): the first of several leading axes is the batch."""
    seen = mask(*scores.shape[-2:], **rule)
    lead = scores.dim() - 2
    return seen.reshape(seen.size(0), *[1] * (lead - 1), *seen.shape[-2:]) if seen.dim() > 2 else seen


def softmax(x, rule, sink=None):
    """Over what is seen, and the sink of each head. A row that sees nothing is zeros."""
    seen = seen_by(x, rule)
    if sink is not None:
        column = sink[:, None, None].expand(*x.shape[:-1], 1)
        return torch.cat([x.masked_fill(~seen, -math.inf), column], -1).softmax(-1)[..., :-1]
    blind = ~seen.any(-1, keepdim=True)
    return x.masked_fill(~seen & ~blind, -math.inf).softmax(-1).masked_fill(blind, 0)


def attention(heads, *tensors, keys=None, **rule):
    """Of qkv, or of q, k and v; a last tensor of one axis is a sink."""
    keys = keys or heads
    *tensors, sink = tensors if len(tensors) % 2 == 0 else (*tensors, None)
    if len(tensors) == 1:
        size = tensors[0].size(-1) // (heads + 2 * keys)
        tensors = tensors[0].split([heads * size, keys * size, keys * size], -1)

    def split(x, count):
        apart = x.reshape(*x.shape[:-1], count, x.size(-1) // count).transpose(-3, -2)
        return apart.repeat_interleave(heads // count, -3)
    q, k, v = (split(x, count) for x, count in zip(tensors, (heads, keys, keys)))
    y = softmax(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), rule, sink) @ v
    return y.transpose(-3, -2).flatten(-2)


def attend(heads, **rule):
    return lambda *tensors: attention(heads, *tensors, **rule)


def many_times(heads, **rule):
    rng = Rng(7)
    draws = [math.sqrt(-2 * math.log(1 - rng.uniform())) * math.cos(2 * math.pi * rng.uniform())
             for _ in range(120)]
    column = torch.tensor(draws, dtype=torch.float64)[:, None]
    return lambda x: attention(heads, column @ x, **rule)


def first_largest(x, axes, keep=False):
    """The gradient goes to the first of several largest numbers; amax would divide it."""
    rest = [axis for axis in range(x.dim()) if axis not in axes]
    rows = x.permute([*rest, *axes]).reshape(*[x.size(axis) for axis in rest], -1)
    y = rows.gather(-1, rows.argmax(-1, keepdim=True)).squeeze(-1)
    for axis in sorted(axes) if keep else []:
        y = y.unsqueeze(axis)
    return y


def dropout(x, p, rng):
    kept = [rng.uniform() >= p for _ in range(x.numel())]
    return x * torch.tensor(kept).reshape(x.shape) / (1 - p)


def scores(q, k):
    return q @ k.transpose(-2, -1)


def weighted_sum(w, v, rule):
    return w.masked_fill(~seen_by(w, rule), 0) @ v


def losses(x, **options):
    y = F.cross_entropy(x.flatten(0, 1), IDS.flatten(), **options)
    return y.reshape(IDS.shape) if y.dim() else y


def rms_norm(x, w, eps=1e-5):
    return w * x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps)


def rotate(x, size, heads, first=0, base=10000, documents=None):
    """As in Llama: x·cos + rotate_half(x)·sin for the first `heads` groups of columns."""
    rates = base ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)
    angles = torch.cat([torch.arange(first, first + length, dtype=torch.float64)
                        for length in documents or [x.size(-2)]])[:, None] * rates
    cos, sin = (torch.cat([f(angles)] * 2, -1) for f in (torch.cos, torch.sin))
    parts = list(x.split(size, -1))
    for h in range(heads):
        a, b = parts[h].chunk(2, -1)
        parts[h] = parts[h] * cos + torch.cat([-b, a], -1) * sin
    return torch.cat(parts, -1)


def linear(x, w, b=None):
    return F.linear(x, w.T, b)


# By the name of a row, or else by its first word. An op with PyTorch's own name needs no line.
OPS = {
    "add itself": lambda x: x + x, "mul itself": lambda x: x * x,
    "pow of a number": lambda x: x ** 3,
    "where": lambda a, b: torch.where(SOME_TRUE, a, b),
    "clamp": lambda x: x.clamp(-0.5, 0.75),
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "sum axis 0": lambda x: x.sum(0), "sum axes 0 and 2 kept": lambda x: x.sum((0, 2), True),
    "mean axis 1": lambda x: x.mean(1), "max": lambda x: first_largest(x, range(x.dim())),
    "max axis 1": lambda x: first_largest(x, [1]),
    "max axes 0 and 2 kept": lambda x: first_largest(x, [0, 2], True),
    "min": lambda x: -first_largest(-x, range(x.dim())),
    "min axis 1": lambda x: -first_largest(-x, [1]),
    "var": lambda x: x.var(unbiased=False),
    "var axis 1": lambda x: x.var(1, unbiased=False),
    "logsumexp": lambda x: x.logsumexp(list(range(x.dim()))),
    "logsumexp axis 1 kept": lambda x: x.logsumexp(1, True),
    "cumsum": lambda x: x.cumsum(-1), "cumsum axis 1": lambda x: x.cumsum(1),
    "matmul itself": lambda x: x @ x, "linear": linear,
    "matmul_transposed": lambda x, w: x @ w.T, "matmul_transposed itself": lambda x: x @ x.T,
    "cosine_similarity": lambda a, b: F.cosine_similarity(a, b, -1, 0.0),
    "cosine_similarity axis 0": lambda a, b: F.cosine_similarity(a, b, 0, 0.0),
    "reshape": lambda x: x.reshape(3, 4) * 2, "permute": lambda x: x.permute(2, 0, 1),
    "transpose": lambda x: x.transpose(-2, -1),
    "transpose axes 0 and 2": lambda x: x.transpose(0, 2),
    "slice": lambda x: x[:, 1:4] + x[:, 2:5],
    "concat": lambda *parts: torch.cat(parts, 1), "concat itself": lambda x: torch.cat([x, x]),
    "split": lambda x: x.chunk(3, 1)[0] * x.chunk(3, 1)[2] + x.chunk(3, 1)[1],
    "stack": lambda *parts: torch.stack(parts, -1),
    "stack axis 1": lambda *parts: torch.stack(parts, 1),
    "pad": lambda x: F.pad(x, (1, 2), value=0.5),
    "gather": lambda x: x.gather(1, IDS), "gather axis 0": lambda x: x.gather(0, IDS),
    "scatter_add": lambda x, values: x.scatter_add(1, IDS, values),
    "scatter_add axis 0": lambda x, values: x.scatter_add(0, IDS, values),
    "softmax": lambda x: x.softmax(-1), "softmax causal": lambda x: softmax(x, {"causal": True}),
    "softmax padding": lambda x: softmax(x, {"lengths": [2, 4]}),
    "softmax documents": lambda x: softmax(x, {"documents": [2, 0, 3], "window": 2}),
    "softmax custom": lambda x: softmax(x, SOME_HIDDEN),
    "log_softmax": lambda x: x.log_softmax(-1),
    "attention": attend(1), "attention causal": attend(2, causal=True),
    "attention one time": attend(1, causal=True),
    "attention without batch": attend(3, causal=True),
    "attention odd head size": attend(2, causal=True),
    "attention window": attend(2, causal=True, window=3),
    "attention padding": attend(1, lengths=[2, 4, 0], window=2),
    "attention documents": attend(2, documents=[2, 0, 3, 1], causal=True),
    "attention documents, wide heads, shared keys and sink":
        attend(4, keys=2, documents=[1, 6, 2], window=4),
    "attention documents and padding": attend(1, documents=[1, 3], lengths=[3, 0]),
    "attention two leading axes": attend(2, lengths=[1, 3], causal=True),
    "attention heads of four": attend(2, causal=True),
    "attention heads of eight": attend(1, causal=True),
    "attention wide heads": attend(2, causal=True),
    "attention many times": many_times(2, causal=True),
    "attention many times in a window": many_times(1, window=50),
    "attention of separate tensors": attend(2, causal=True),
    "attention separate, wide heads": attend(2, window=3),
    "attention shared keys": attend(4, keys=2, causal=True),
    "attention one head of keys": attend(3, keys=1, lengths=[2, 4, 0]),
    "attention many times, shared keys": many_times(4, keys=1, causal=True),
    "attention sink": attend(2, causal=True),
    "attention sink, padding": attend(1, lengths=[2, 4, 0]),
    "attention sink, wide heads": attend(2, causal=True, window=4),
    "attention separate, shared keys and sink": attend(4, keys=2, window=3),
    "attention of one tensor thrice": lambda x: attention(2, x, x, x, lengths=[2]),
    "attention_scores": scores,
    "attention_scores masked": lambda q, k: softmax(scores(q, k), SOME_HIDDEN),
    "weighted_sum": lambda w, v: w @ v,
    "weighted_sum masked": lambda w, v: weighted_sum(w, v, {"causal": True}),
    "layer_norm": lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b),
    "layer_norm large eps": lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b, 0.5),
    "rms_norm": rms_norm, "rms_norm large eps": lambda x, w: rms_norm(x, w, 0.5),
    "rotate": lambda x: rotate(x, 4, 2),
    "rotate documents": lambda x: rotate(x, 4, 2, 3, 500, [2, 0, 3]),
    "rotate from a later position": lambda x: rotate(x, 6, 1, 7, 500),
    "rotate one head of all columns": lambda x: rotate(x, 34, 1, 100),
    "embedding": lambda table: table[IDS],
    "embedding with positions": lambda table, positions: table[IDS] + positions[:3],
    "embedding from a later position": lambda table, positions: table[IDS] + positions[2:5],
    "cross_entropy": lambda x: F.cross_entropy(x.flatten(0, 1), IDS.flatten()) * 3,
    "cross_entropy ignored": lambda x: F.cross_entropy(x.flatten(0, 1), IDS.flatten(),
                                                       ignore_index=4),
    "cross_entropy smoothed": lambda x: losses(x, label_smoothing=0.3),
    "cross_entropy weighted": lambda x: losses(x, label_smoothing=0.1, weight=CLASS_WEIGHTS),
    "cross_entropy sum": lambda x: losses(x, reduction="sum"),
    "cross_entropy none": lambda x: losses(x, weight=CLASS_WEIGHTS, reduction="none"),
    "dropout": lambda x: dropout(x, 0.4, Rng(9)),
}

# -- what each row of nn/module_cases.cpp is: f of its tensors by their names ----------------------

WORDS = torch.tensor([[1, 2, 3, 4, 5], [10, 9, 2, 2, 0]])
NEXT_WORDS = torch.tensor([[2, 3, 4, 5, 6], [9, 2, 2, -1, -1]])


def layer(t, name, x):
    return linear(x, t[name + "weight"], t.get(name + "bias"))


def mlp(t, name, x, form="gelu"):
    if form == "swiglu":
        hidden = F.silu(layer(t, name + "c_gate.", x)) * layer(t, name + "c_fc.", x)
        return layer(t, name + "c_proj.", hidden)
    if form == "relu2":
        return layer(t, name + "c_proj.", F.relu(layer(t, name + "c_fc.", x)) ** 2)
    return layer(t, name + "c_proj.", F.gelu(layer(t, name + "c_fc.", x), approximate="tanh"))


def norm(t, name, x):
    return F.layer_norm(x, x.shape[-1:], t[name + "weight"], t[name + "bias"])


def attention_layer(heads, **rule):
    def run(t, name="attention.", x=None):
        x = t["input"] if x is None else x
        sink = [t[name + "sink"]] if name + "sink" in t else []
        return layer(t, name + "c_proj.",
                     attention(heads, layer(t, name + "c_attn.", x), *sink, **rule))
    return run


def biased_attention(t):
    def heads(x):
        return x.unflatten(-1, (2, -1)).transpose(1, 2)
    rng = Rng(5)
    q, k, v = map(heads, layer(t, "attention.c_attn.", t["input"]).chunk(3, -1))
    weights = softmax(scores(q, k) / math.sqrt(q.size(-1)) + t["bias"], {"causal": True})
    y = (dropout(weights, 0.3, rng) @ v).transpose(1, 2).flatten(-2)
    return layer(t, "attention.c_proj.", y)


def attention_of_today(heads, base, exclusive, keys=None, **rule):
    keys = keys or heads

    def run(t, name="attention.", x=None):
        x = t["input"] if x is None else x
        qkv = layer(t, name + "c_attn.", x).unflatten(-1, (heads + 2 * keys, -1))
        q, k, v = qkv.split([heads, keys, keys], -2)
        size = q.size(-1)
        one = torch.ones(size, dtype=torch.float64)
        q, k = (rotate(rms_norm(h, one).flatten(-2), size, h.size(-2), 0, base,
                       rule.get("documents")) for h in (q, k))
        y = attention(heads, q, k, v.flatten(-2), keys=keys, **rule).unflatten(-1, (heads, -1))
        if exclusive:
            unit = F.normalize(v, dim=-1).repeat_interleave(heads // keys, -2)
            y = y - (y * unit).sum(-1, keepdim=True) * unit
        return layer(t, name + "c_proj.", y.flatten(-2))
    return run


def model_of_today(t):
    def norm(name, x):
        return rms_norm(x, t[name + "weight"])
    attend_to = attention_of_today(2, 10000, False, causal=True)
    x = t["wte.weight"][WORDS]
    for i in range(2):
        x = x + attend_to(t, f"h.{i}.attn.", norm(f"h.{i}.ln_1.", x))
        x = x + mlp(t, f"h.{i}.mlp.", norm(f"h.{i}.ln_2.", x), "swiglu")
    return norm("ln_f.", x) @ t["wte.weight"].T


def cross_attention(t):
    k, v = layer(t, "attention.c_attn.", t["source"]).chunk(2, -1)
    q = layer(t, "attention.q_attn.", t["input"])
    return layer(t, "attention.c_proj.", attention(2, q, k, v, lengths=[3, 5]))


def block(t, name, x, heads, drop=lambda x: x, **rule):
    x = x + drop(attention_layer(heads, **rule)(t, name + "attn.", norm(t, name + "ln_1.", x)))
    return x + drop(mlp(t, name + "mlp.", norm(t, name + "ln_2.", x)))


def model(t, drop=lambda x: x):
    x = drop(t["wte.weight"][WORDS] + t["wpe.weight"][:WORDS.size(1)])
    for i in range(2):
        x = block(t, f"h.{i}.", x, 2, drop, causal=True)
    return norm(t, "ln_f.", x) @ t["wte.weight"].T


def dropped_block(t):
    rng = Rng(5)
    return block(t, "block.", t["input"], 2, lambda x: dropout(x, 0.3, rng), causal=True)


def loss_of_model(t):
    rng = Rng(3)
    logits = model(t, lambda x: dropout(x, 0.1, rng))
    return F.cross_entropy(logits.flatten(0, 1), NEXT_WORDS.flatten(), ignore_index=-1)


MODULES = {
    "Linear": lambda t: layer(t, "", t["input"]), "Embedding": lambda t: t["weight"][WORDS],
    "LayerNorm": lambda t: norm(t, "", t["input"]), "MLP": lambda t: mlp(t, "", t["input"]),
    "Attention one head": attention_layer(1), "Attention causal": attention_layer(2, causal=True),
    "Attention odd head size": attention_layer(3, causal=True),
    "Attention window": attention_layer(2, causal=True, window=2),
    "Attention padding": attention_layer(2, lengths=[2, 4]),
    "Attention padding and causal": attention_layer(3, lengths=[4, 0, 2], causal=True),
    "Attention both sides": attention_layer(1, window=2),
    "Attention nowhere to look": attention_layer(2, table=[1, 0, 1, 0, 0, 0, 0, 1, 1]),
    "Attention with bias and dropout": biased_attention,
    "Attention shared keys": attention_layer(4, keys=2, causal=True),
    "Attention sink": attention_layer(2, causal=True),
    "Attention shared keys and sink, nowhere to look":
        attention_layer(3, keys=1, table=[1, 0, 1, 0, 0, 0, 0, 1, 1]),
    "RMS norm": lambda t: rms_norm(t["input"], t["weight"]),
    "MLP SwiGLU": lambda t: mlp(t, "", t["input"], "swiglu"),
    "MLP ReLU squared": lambda t: mlp(t, "", t["input"], "relu2"),
    "Attention of today": attention_of_today(2, 100, True, causal=True),
    "Attention of today, wide heads": attention_of_today(1, 100, True, causal=True, window=2),
    "Attention of today, shared keys": attention_of_today(4, 100, True, keys=2, causal=True),
    "Attention of today, documents":
        attention_of_today(2, 100, True, causal=True, documents=[2, 3, 1]),
    "LanguageModel of today": model_of_today,
    "CrossAttention": cross_attention, "Block": lambda t: block(t, "", t["input"], 2),
    "Dropout in a block": dropped_block, "LanguageModel logits": model,
    "LanguageModel loss": loss_of_model,
}

# -- the optimisers: AdamW, and Muon if it moves the matrices of the blocks ------------------------

def orthogonalised(g):
    """nn/optim/adamw.h"""
    x = g / (g.norm() + 1e-7)
    for _ in range(5):
        s = x @ x.T
        x = 3.4445 * x + (-4.7750 * s + 2.0315 * s @ s) @ x
    return x


class Muon(torch.optim.Optimizer):
    """nn/optim/adamw.h. In a group with "parts" = 3 a parameter has three matrices side by side: of
    queries, which is square, of keys and of values. "lr" is that of AdamW."""

    def __init__(self, groups, times, momentum, decay):
        super().__init__(groups, {"lr": 0.0, "times": times, "momentum": momentum, "decay": decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            rate = group["lr"] * group["times"]
            for p in group["params"]:
                momentum = self.state[p].setdefault("momentum", torch.zeros_like(p))
                momentum.mul_(group["momentum"]).add_(p.grad)
                nesterov = p.grad + group["momentum"] * momentum
                p.mul_(1 - rate * group["decay"])
                rows, columns = p.shape
                sizes = ([rows, (columns - rows) // 2, (columns - rows) // 2]
                         if group["parts"] == 3 else [columns])
                for part, g in zip(p.split(sizes, 1), nesterov.split(sizes, 1)):
                    scale = max(1, g.size(1) / g.size(0)) ** 0.5
                    part.sub_(rate * scale * orthogonalised(g))


def optimizers_of(named, settings):
    """Of parameters by name, for the settings in a line of a model (README.md)."""
    matrices = {name: p for name, p in named.items()
                if settings["muon"] and name.startswith("h.") and p.dim() == 2}
    others = [p for name, p in named.items() if name not in matrices]
    adamw = torch.optim.AdamW(
        [{"params": [p for p in others if p.dim() >= 2], "weight_decay": settings["decay"]},
         {"params": [p for p in others if p.dim() < 2], "weight_decay": 0.0}],
        betas=(settings["beta1"], settings["beta2"]), eps=settings["eps"])
    if not matrices:
        return [adamw]
    groups = [{"params": [p for name, p in matrices.items() if ("c_attn" in name) == (parts == 3)],
               "parts": parts} for parts in (1, 3)]
    return [adamw, Muon(groups, settings["muon_times"], settings["momentum"], settings["decay"])]

# -- comparing -------------------------------------------------------------------------------------

def tensor(entry):
    return torch.tensor(entry["numbers"], dtype=torch.float64).reshape(entry["shape"])


def formula(row):
    """f of the tensors by their names; None for a row that PyTorch has no formula for."""
    for name in (row, row.split()[0]):
        if name in MODULES:
            return MODULES[name]
        f = OPS.get(name) or getattr(torch, name, None) or getattr(F, name, None)
        if f:
            return lambda t: f(*t.values())
    return None


def row_errors(line, expected):
    """(what, the error, its limit) of what is compared."""
    if not expected:
        leaves = {name: tensor(x).requires_grad_() for name, x in line["inputs"].items()}
        y = formula(line["row"])(leaves)
        (y * tensor(line["v"])).sum().backward()
        expected.update({"y": y.detach()}, **{name: x.grad for name, x in leaves.items()})
    largest = max(gradient.abs().max() for name, gradient in expected.items() if name != "y")
    for name, right in expected.items():
        found = tensor(line["y"] if name == "y" else line["gradients"][name])
        yield name, error(found, right, 0 if name == "y" else 1e-3 * largest), OF_ROW


def error(found, right, least=0):
    if found.shape != right.shape or not bool(found.isfinite().all()):
        return math.inf
    worst = (found - right).abs().max().item()
    return worst and worst / max(right.abs().max().item(), least)


def train(line):
    """What PyTorch computes in the steps of a line."""
    before = {name: tensor(x) for name, x in line["before"].items()}
    layers = 1 + max(int(name.split(".")[1]) for name in before if name.startswith("h."))
    width, hidden = before["h.0.mlp.c_fc.weight"].shape
    net = GPT({"model_type": "gpt2", "n_layer": layers, "n_head": line["heads"],
               "n_embd": width, "n_inner": hidden, "n_positions": len(before["wpe.weight"]),
               "vocab_size": len(before["wte.weight"]),
               "bias": "h.0.mlp.c_fc.bias" in before, "layer_norm_epsilon": line["epsilon"],
               "activation_function": "gelu" if line["gelu"] == "none" else "gelu_new"})
    net.load_state_dict(before)
    optimizers = optimizers_of(dict(net.named_parameters()), line)
    expected = {"losses": [], "norms": []}
    for step in line["steps"]:
        x, y = (torch.tensor(step[name]).reshape(line["batch"], -1) for name in "xy")
        net.zero_grad()
        logits = net(x)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten(), ignore_index=-1)
        loss.backward()
        if "logits" not in expected:
            expected["logits"] = logits.detach()
            expected.update({name: p.grad.clone() for name, p in net.named_parameters()})
        norm = math.sqrt(sum((p.grad ** 2).sum().item() for p in net.parameters()))
        # clip_grad_norm_ multiplies by clip ÷ (norm + 1e-6), where fledge divides by the norm.
        torch.nn.utils.clip_grad_norm_(net.parameters(), line["clip"] * (1 + 1e-6 / norm))
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = step["rate"]
            optimizer.step()
        expected["losses"].append(loss.item())
        expected["norms"].append(norm)
    expected.update({"after " + name: p.detach() for name, p in net.named_parameters()})
    return expected


def training_errors(line, expected):
    if not expected:
        expected.update(train(line))
    first = line["steps"][0]
    for name, right in expected.items():
        if name in ("losses", "norms"):
            key = {"losses": "loss", "norms": "norm"}[name]
            found = torch.tensor([step[key] for step in line["steps"]])
            yield name, error(found, torch.tensor(right)), OF_STEPS
        elif name.startswith("after "):
            yield name, error(tensor(line["after"][name[6:]]), right), OF_STEPS
        else:
            found = first["logits"] if name == "logits" else first["gradients"][name]
            yield name, error(tensor(found), right), OF_MODEL


def plant(line, rng):
    """Changes the largest number of a tensor that is compared by a millionth, or any to NaN."""
    if "row" in line:
        tensors = [line["y"], *line["gradients"].values()]
    else:
        first = line["steps"][0]
        tensors = [first["logits"], *first["gradients"].values(), *line["after"].values()]
    numbers = rng.choice([t["numbers"] for t in tensors if any(t["numbers"])])
    at = max(range(len(numbers)), key=lambda i: abs(numbers[i]))
    numbers[at] = math.nan if rng.random() < 0.2 else numbers[at] * (1 + 1e-6)


def main():
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)  # small numbers: threads would only wait
    rng = random.Random(1)
    worst, lines, names, wrong, unseen = {}, 0, set(), [], []
    for text in sys.stdin:
        line, expected = json.loads(text), {}
        name = line.get("row", f"50 steps of {'Muon' if line.get('muon') else 'AdamW'}")
        if "row" in line and not formula(name):
            wrong.append(f"{name}: torch_parity.py has no formula for this row")
            continue
        errors = row_errors if "row" in line else training_errors
        lines += 1
        names.add(name)
        for what, found, limit in errors(line, expected):
            worst[limit] = max(worst.get(limit, 0), found)
            if not found <= limit:
                wrong.append(f"{name}, {what}: error {found:.1e}")
        plant(line, rng)
        if all(found <= limit for _, found, limit in errors(line, expected)):
            unseen.append(name)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    for limit, found in sorted(worst.items()):
        print(f"the largest error is {found:.1e}, of at most {limit:.0e}")
    print(f"{lines} calls of {len(names)} rows: {'NOT ' * bool(wrong or not lines)}as PyTorch computes them")
    print(f"{lines - len(unseen)} of {lines} planted differences were found", *unseen)
    sys.exit(1 if wrong or unseen or not lines else 0)


main()
