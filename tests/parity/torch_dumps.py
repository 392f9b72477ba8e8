#!/usr/bin/python3
"""Writes what PyTorch computes in double, for build/tests/parity to compare with fledge.

  torch_dumps.py --out DIR [--seed N] [--configurations N] [--programs N]
  torch_dumps.py --out DIR --plant DUMPS      a copy of these dumps, each with one wrong number

README.md describes the files. Needs PyTorch and NumPy.
"""
import argparse
import json
import math
import pathlib
import shutil
import sys

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parents[1] / "examples" / "pytorch")]

from gpt import GPT, sum_of_losses  # noqa: E402
from fledge_run import read_safetensors, safetensors_bytes  # noqa: E402
from torch_draws import CASES, DRAW  # noqa: E402
from torch_programs import programs  # noqa: E402

STEPS = 50

# heads, head size, layers, context, vocabulary, batch: the borders first
SIZES = [(1, 5, 1, 1, 2, 1), (5, 1, 1, 33, 131, 2), (3, 7, 2, 17, 65, 3), (2, 9, 3, 33, 2, 1),
         (4, 3, 1, 2, 131, 4), (1, 13, 2, 31, 27, 2)]


def sizes_of(number):
    if number < len(SIZES):
        return SIZES[number]
    rng = np.random.default_rng(number)
    head_size = int(rng.choice([3, 5, 6, 7, 9, 11, 13]))
    return (1 + number % 5, head_size, int(rng.integers(1, 4)), int(rng.integers(1, 34)),
            int(rng.integers(2, 132)), int(rng.integers(1, 5)))


def model_of(number, rng):
    """A model with large random weights, so that no part of it is negligible."""
    heads, head_size, layers, context, vocabulary, batch = sizes_of(number)
    width = heads * head_size
    config = dict(model_type="gpt2", architectures=["GPT2LMHeadModel"], vocab_size=vocabulary,
                  n_positions=context, n_ctx=context, n_embd=width, n_layer=layers, n_head=heads,
                  n_inner=None if number % 3 else 2 * width + 1,
                  activation_function="gelu" if number % 5 == 4 else "gelu_new",
                  layer_norm_epsilon=1e-3 if number % 7 == 3 else 1e-5,
                  resid_pdrop=0.0, embd_pdrop=0.0, bias=number % 2 == 0)
    model = GPT(config)
    with torch.no_grad():
        for name, p in model.named_parameters():
            scale = 0.7 / math.sqrt(p.size(0)) if p.dim() == 2 and ".c_" in name else 0.3
            mean = 1 if ".ln_" in f".{name}" and name.endswith("weight") else 0
            p.copy_(torch.tensor(rng.normal(mean, scale, tuple(p.shape))))
    return config, model, batch


def batches(config, batch, count, padded, rng):
    """Inputs and targets (count, batch, time). Some rows end early: their targets are −1.

    With one token, the gradients of queries and keys are 0, and PyTorch's are 1e-17. AdamW divides
    them by eps = 1e-8, so 50 steps would move such weights by 1e-9. So there are two tokens or more.
    """
    context = config["n_positions"]
    time = context if padded else int(rng.integers(min(2, context), context + 1))
    x, y = (rng.integers(0, config["vocab_size"], (count, batch, time)) for _ in range(2))
    for rows in y if padded else []:
        for row in rows:
            row[int(rng.integers(1, time + 1)):] = -1
    return torch.tensor(x), torch.tensor(y)


def loss_of(model, x, y):
    logits = model(x)
    return logits, sum_of_losses(logits, y) / (y >= 0).sum()


def arrays_of(named, suffix=""):
    return {name + suffix: tensor.detach().numpy().copy() for name, tensor in named}


def write_model(folder, number, seed):
    rng = np.random.default_rng([seed, number])
    config, model, batch = model_of(number, rng)
    padded = number % 4 == 2
    x, y = batches(config, batch, STEPS + 1, padded, rng)
    before = arrays_of(model.named_parameters())
    logits, loss = loss_of(model, x[0], y[0])
    loss.backward()
    reference = {"x": x[0].numpy(), "y": y[0].numpy(), "logits": logits.detach().numpy(),
                 "loss": loss.detach().reshape(1).numpy(),
                 **arrays_of(((n, p.grad) for n, p in model.named_parameters()), ".grad")}
    settings = dict(clip=float(rng.choice([0.3, 1.0, 100.0])), decay=0.1, eps=1e-8,
                    beta1=float(rng.choice([0.9, 0.5])), beta2=float(rng.choice([0.99, 0.999])),
                    rates=[float(rate) for rate in rng.uniform(1e-4, 1e-2, STEPS)])
    after = train(model, x[1:], y[1:], settings)
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "model.safetensors").write_bytes(safetensors_bytes(before))
    (folder / "reference.safetensors").write_bytes(safetensors_bytes(reference))
    (folder / "training.json").write_text(json.dumps(settings))
    (folder / "training.safetensors").write_bytes(safetensors_bytes(after))


def train(model, x, y, settings):
    """50 steps of AdamW. Returns the batches, the loss and norm of each step, and the weights."""
    groups = [[p for p in model.parameters() if (p.dim() >= 2) == is_matrix]
              for is_matrix in (True, False)]
    optimizer = torch.optim.AdamW(
        [{"params": groups[0], "weight_decay": settings["decay"]},
         {"params": groups[1], "weight_decay": 0.0}],
        betas=(settings["beta1"], settings["beta2"]), eps=settings["eps"])
    losses, norms = [], []
    for rate, inputs, targets in zip(settings["rates"], x, y):
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad()
        loss = loss_of(model, inputs, targets)[1]
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), settings["clip"]).item())
        losses.append(loss.item())
        optimizer.step()
    return {"x": x.numpy(), "y": y.numpy(), "losses": np.array(losses), "norms": np.array(norms),
            **arrays_of(model.named_parameters(), ".after")}


def plant(folder, rng):
    """Changes one number of a dump that is compared: the largest of a tensor by a millionth, or any
    to NaN."""
    path = folder / "reference.safetensors"
    if (folder / "training.safetensors").exists() and rng.random() < 0.5:
        path = folder / "training.safetensors"
    tensors, _ = read_safetensors(path)
    given = {"x", "y", *(name for name in tensors if name.startswith("cotangent."))}
    if (folder / "program.json").exists():
        steps = json.loads((folder / "program.json").read_text())["steps"]
        given |= {f"value.{i}" for i, step in enumerate(steps) if step["op"] == "input"}
    compared = sorted(tensors.keys() - given)
    name = compared[rng.integers(len(compared))]
    changed = tensors[name].flatten()
    if rng.random() < 0.2:
        changed[rng.integers(len(changed))] = math.nan
    else:
        changed[np.abs(changed).argmax()] *= 1 + 1e-6
    path.write_bytes(safetensors_bytes({**tensors, name: changed.reshape(tensors[name].shape)}))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, help="a new folder")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--configurations", type=int, default=24)
    parser.add_argument("--programs", type=int, default=200, help="random programs, besides the "
                        "programs of one op")
    parser.add_argument("--plant", metavar="DUMPS")
    options = parser.parse_args()
    if pathlib.Path(options.out).exists():
        parser.error(f"{options.out} must be a new folder, and it exists: name another one")
    if options.plant:
        shutil.copytree(options.plant, options.out)
        for number, folder in enumerate(sorted(pathlib.Path(options.out).iterdir())):
            plant(folder, np.random.default_rng([options.seed, number]))
        return
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)  # small numbers: threads would only wait
    out = pathlib.Path(options.out)
    for number in range(options.configurations):
        write_model(out / f"model-{number:02}", number, options.seed)
    for number, (text, tensors) in enumerate(programs(options.programs, options.seed, DRAW, CASES)):
        folder = out / f"program-{number:03}"
        folder.mkdir(parents=True)
        (folder / "program.json").write_text(json.dumps(text))
        (folder / "reference.safetensors").write_bytes(safetensors_bytes(tensors))


main()
