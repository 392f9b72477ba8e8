#!/usr/bin/python3
"""Computes with PyTorch, in double, what fledge computed, and compares.

  build/tests/parity | torch_parity.py

README.md describes the lines. Every line is also judged with one number changed by a millionth, or
to NaN: all of these must be found. Exit status: 0 all agree, 1 not. Needs PyTorch and NumPy.
"""
import json
import math
import pathlib
import random
import sys

import torch
import torch.nn.functional as F

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "pytorch"))
from fledge_run import Rng  # noqa: E402
from gpt import GPT, sum_of_losses  # noqa: E402

# The largest errors: max |fledge − PyTorch| ÷ max |PyTorch|
OF_ROW, OF_MODEL, OF_STEPS = 1e-11, 1e-10, 1e-9

# -- what each row of engine/gradcheck/op_cases.cpp is in PyTorch ----------------------------------

IDS = torch.tensor([[4, 0, 4], [1, 4, 2]])
SOME_TRUE = torch.tensor([[1, 0, 0], [1, 1, 0]]).bool()


def mask(queries, keys, causal=False, window=None, lengths=None, table=None):
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
    if lengths:
        seen = seen & (key < torch.tensor(lengths)[:, None, None, None])
    return seen


SOME_HIDDEN = {"table": [1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0]}


def seen_by(scores, rule):
    """The mask for scores (…, queries, keys): the first of several leading axes is the batch."""
    seen = mask(*scores.shape[-2:], **rule)
    lead = scores.dim() - 2
    return seen.reshape(seen.size(0), *[1] * (lead - 1), *seen.shape[-2:]) if seen.dim() > 2 else seen


def softmax(x, rule):
    """Over what is seen. A row that sees nothing is zeros."""
    seen = seen_by(x, rule)
    blind = ~seen.any(-1, keepdim=True)
    return x.masked_fill(~seen & ~blind, -math.inf).softmax(-1).masked_fill(blind, 0)


def attention(heads, *tensors, **rule):
    def split(x):
        return x.reshape(*x.shape[:-1], heads, -1).transpose(-3, -2)
    q, k, v = map(split, tensors if len(tensors) == 3 else tensors[0].chunk(3, -1))
    y = softmax(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), rule) @ v
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


def linear(x, w, b=None):
    return F.linear(x, w.T, b)


# By the name of a row, or else by its first word. An op with PyTorch's own name needs no line.
OPS = {
    "add": lambda a, b: a + b, "add itself": lambda x: x + x, "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b, "mul itself": lambda x: x * x, "div": lambda a, b: a / b,
    "neg": lambda x: -x, "pow of a number": lambda x: x ** 3,
    "where": lambda a, b: torch.where(SOME_TRUE, a, b),
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "sum axis 0": lambda x: x.sum(0), "sum axes 0 and 2 kept": lambda x: x.sum((0, 2), True),
    "mean axis 1": lambda x: x.mean(1), "max": lambda x: first_largest(x, range(x.dim())),
    "max axis 1": lambda x: first_largest(x, [1]),
    "max axes 0 and 2 kept": lambda x: first_largest(x, [0, 2], True),
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
    "softmax": lambda x: x.softmax(-1), "softmax causal": lambda x: softmax(x, {"causal": True}),
    "softmax padding": lambda x: softmax(x, {"lengths": [2, 4]}),
    "softmax custom": lambda x: softmax(x, SOME_HIDDEN),
    "log_softmax": lambda x: x.log_softmax(-1),
    "attention": attend(1), "attention causal": attend(2, causal=True),
    "attention one time": attend(1, causal=True),
    "attention without batch": attend(3, causal=True),
    "attention odd head size": attend(2, causal=True),
    "attention window": attend(2, causal=True, window=3),
    "attention padding": attend(1, lengths=[2, 4, 0], window=2),
    "attention two leading axes": attend(2, lengths=[1, 3], causal=True),
    "attention heads of four": attend(2, causal=True),
    "attention heads of eight": attend(1, causal=True),
    "attention wide heads": attend(2, causal=True),
    "attention many times": many_times(2, causal=True),
    "attention many times in a window": many_times(1, window=50),
    "attention of separate tensors": attend(2, causal=True),
    "attention separate, wide heads": attend(2, window=3),
    "attention of one tensor thrice": lambda x: attention(2, x, x, x, lengths=[2]),
    "attention_scores": scores,
    "attention_scores masked": lambda q, k: softmax(scores(q, k), SOME_HIDDEN),
    "weighted_sum": lambda w, v: w @ v,
    "weighted_sum masked": lambda w, v: weighted_sum(w, v, {"causal": True}),
    "layer_norm": lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b),
    "layer_norm large eps": lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b, 0.5),
    "embedding": lambda table: table[IDS],
    "embedding with positions": lambda table, positions: table[IDS] + positions[:3],
    "embedding from a later position": lambda table, positions: table[IDS] + positions[2:5],
    "cross_entropy": lambda x: F.cross_entropy(x.flatten(0, 1), IDS.flatten()) * 3,
    "cross_entropy ignored": lambda x: F.cross_entropy(x.flatten(0, 1), IDS.flatten(),
                                                       ignore_index=4),
    "dropout": lambda x: dropout(x, 0.4, Rng(9)),
}

# -- what each row of nn/module_cases.cpp is: f of its tensors by their names ----------------------

WORDS = torch.tensor([[1, 2, 3, 4, 5], [10, 9, 2, 2, 0]])
NEXT_WORDS = torch.tensor([[2, 3, 4, 5, 6], [9, 2, 2, -1, -1]])


def layer(t, name, x):
    return linear(x, t[name + "weight"], t.get(name + "bias"))


def mlp(t, name, x):
    return layer(t, name + "c_proj.", F.gelu(layer(t, name + "c_fc.", x), approximate="tanh"))


def norm(t, name, x):
    return F.layer_norm(x, x.shape[-1:], t[name + "weight"], t[name + "bias"])


def attention_layer(heads, **rule):
    def run(t, name="attention.", x=None):
        x = t["input"] if x is None else x
        return layer(t, name + "c_proj.", attention(heads, layer(t, name + "c_attn.", x), **rule))
    return run


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
    "CrossAttention": cross_attention, "Block": lambda t: block(t, "", t["input"], 2),
    "Dropout in a block": dropped_block, "LanguageModel logits": model,
    "LanguageModel loss": loss_of_model,
}

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
    net = GPT({"n_layer": layers, "n_head": line["heads"], "n_embd": width, "n_inner": hidden,
               "n_positions": len(before["wpe.weight"]), "vocab_size": len(before["wte.weight"]),
               "bias": "h.0.mlp.c_fc.bias" in before, "layer_norm_epsilon": line["epsilon"],
               "activation_function": "gelu" if line["gelu"] == "none" else "gelu_new"})
    net.load_state_dict(before)
    groups = [[p for p in net.parameters() if (p.dim() >= 2) == is_matrix]
              for is_matrix in (True, False)]
    optimizer = torch.optim.AdamW(
        [{"params": groups[0], "weight_decay": line["decay"]},
         {"params": groups[1], "weight_decay": 0.0}], betas=line["betas"], eps=line["eps"])
    expected = {"losses": [], "norms": []}
    for step in line["steps"]:
        x, y = (torch.tensor(step[name]).reshape(line["batch"], -1) for name in "xy")
        optimizer.zero_grad()
        logits = net(x)
        loss = sum_of_losses(logits, y) / (y >= 0).sum()
        loss.backward()
        if "logits" not in expected:
            expected["logits"] = logits.detach()
            expected.update({name: p.grad.clone() for name, p in net.named_parameters()})
        norm = math.sqrt(sum((p.grad ** 2).sum().item() for p in net.parameters()))
        # clip_grad_norm_ multiplies by clip ÷ (norm + 1e-6), where fledge divides by the norm.
        torch.nn.utils.clip_grad_norm_(net.parameters(), line["clip"] * (1 + 1e-6 / norm))
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
        name = line.get("row", "50 steps of AdamW")
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
