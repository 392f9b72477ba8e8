#!/usr/bin/python3
"""Continues a training run of fledge in PyTorch, and hands the model back.

  fledge export RUN -o FOLDER --training
  continue_training.py FOLDER --steps 2000 --out DONE
  torchrun --nproc_per_node 2 continue_training.py FOLDER --steps 2000 --out DONE
  fledge eval DONE

The steps are those that fledge itself would take next: the same batches, learning rates, weight
decay and clipping. Only dropout differs, because PyTorch draws other random numbers. First the
script computes fledge's check batch, and it stops if the loss or a gradient differs.

Needs PyTorch 1.13 or later and NumPy. torchrun's processes share the rows of each batch
(DistributedDataParallel, over gloo or nccl). With --fsdp they share weights and moments too; this
needs PyTorch 2.4 or later.
"""
import argparse
import json
import os
import pathlib
import pickle
import sys

import numpy as np
import torch
import torch.distributed as dist

from fledge_run import (Text, batch_of, rate_at, read_safetensors, safetensors_bytes, windows_of,
                        write)
from gpt import GPT, sum_of_losses
from learner import Learner, Processes, fsdp_functions, stop


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="what fledge export --training wrote")
    parser.add_argument("--steps", type=int, help="total number of steps, those of fledge included")
    parser.add_argument("--out", help="a folder for fledge eval and fledge generate")
    parser.add_argument("--checkpoint", help="a file to save to, and to go on from if it exists")
    parser.add_argument("--every", type=int, default=100, help="steps between two checkpoints")
    parser.add_argument("--fsdp", action="store_true", help="divide weights and moments")
    options = parser.parse_args()
    out = pathlib.Path(options.out) if options.out else None
    if out and out.exists() and (not out.is_dir() or any(out.iterdir())):
        stop(f"--out must name a new or empty folder: {out} has something in it", 2)
    if options.checkpoint and not pathlib.Path(options.checkpoint).absolute().parent.is_dir():
        stop(f"--checkpoint must be in a folder that exists: got {options.checkpoint}", 2)
    if options.every < 1:
        stop(f"--every must be at least 1: got {options.every}", 2)
    return options


def text_of(tensors, prefix=""):
    tokens = tensors.get(prefix + "tokens")
    return None if tokens is None else Text(tokens, tensors.get(prefix + "lengths"))


def check(model, expected, text, settings, device):
    """Stops unless the check batch is the next one, and its loss and gradients are fledge's."""
    batch = batch_of(text, windows_of(text, settings, settings["step"], 0))
    if not (np.array_equal(batch[0], expected["inputs"])
            and np.array_equal(batch[1], expected["targets"])):
        stop("the next batch must be fledge's check batch, and other tokens were drawn")
    inputs, targets = (torch.tensor(part).to(device) for part in batch)
    loss = sum_of_losses(model.eval()(inputs), targets) / (targets >= 0).sum()
    if not abs(loss.item() - expected["loss"]) <= 1e-5:
        stop(f"the check batch must have fledge's loss {expected['loss']:.6f}: got {loss:.6f}")
    loss.backward()
    for name, p in model.named_parameters():
        norm, right = p.grad.norm().item(), expected["gradient_norms"][name]
        if not abs(norm - right) <= 1e-4 * right:
            stop(f"the gradient of {name} must have fledge's norm {right:.7g}: got {norm:.7g}")
    model.zero_grad()


def write_folder(out, source, weights, step):
    """A folder as fledge reads it."""
    out.mkdir(parents=True, exist_ok=True)
    tensors = {name: tensor.float().cpu().numpy() for name, tensor in weights.items()}
    for name, weight in list(tensors.items()):  # GPT-2 always has biases
        if ".c_" in name and name.endswith(".weight"):
            tensors.setdefault(name[:-6] + "bias", np.zeros(weight.shape[1], np.float32))
    metadata = {"format": "pt", "step": str(step)}
    write(out / "model.safetensors",
          lambda file: file.write(safetensors_bytes(tensors, metadata)))
    for path in [*source.glob("*.json"), *source.glob("*.txt")]:  # config.json and the tokenizer
        write(out / path.name, lambda file: file.write(path.read_bytes()))


def exported_state(model, tensors, gradients):
    """The state in training.safetensors."""
    tensors = {name: torch.tensor(array) for name, array in tensors.items()}
    weights = {name: tensors[name] for name, _ in model.named_parameters()}
    moments = {name: {"step": torch.tensor(float(gradients[name])),
                      "exp_avg": tensors.get("adamw.m." + name, torch.zeros_like(weight)),
                      "exp_avg_sq": tensors.get("adamw.v." + name, torch.zeros_like(weight))}
               for name, weight in weights.items()}
    return {"weights": weights, "moments": moments}


def main():
    options = arguments()
    fsdp = fsdp_functions() if options.fsdp else None
    processes = Processes()
    if fsdp and not dist.is_initialized():
        stop("--fsdp divides the weights among processes: start the script with torchrun", 2)
    source = pathlib.Path(options.folder)
    if not (source / "training.safetensors").exists():
        stop(f"{source} must have a training.safetensors: fledge export RUN -o {source} --training")
    tensors, metadata = read_safetensors(source / "training.safetensors")
    settings, expected = json.loads(metadata["training"]), json.loads(metadata["check"])
    text, valid, step = text_of(tensors), text_of(tensors, "valid."), settings["step"]
    model = GPT(json.loads((source / "config.json").read_text())).to(processes.device)
    state = exported_state(model, tensors, settings["gradients"])
    model.load_state_dict(state["weights"])
    check(model, expected, text, settings, processes.device)
    processes.say(f"check batch: loss {expected['loss']:.6f} and all gradients as in fledge")

    settings["steps"] = settings["steps"] if options.steps is None else options.steps
    if settings["steps"] < step:
        stop(f"--steps counts fledge's steps too: it must be at least {step}, and is "
             f"{settings['steps']}", 2)
    learner = Learner(model, settings, processes, fsdp)
    checkpoint = pathlib.Path(options.checkpoint) if options.checkpoint else None
    if checkpoint and checkpoint.exists():
        saved = torch.load(checkpoint, map_location="cpu")
        if saved["export"] != metadata["checksum"]:
            stop(f"{checkpoint} must be a checkpoint of this folder: it is of another export")
        state, step = saved["state"], saved["step"]
        processes.say(f"going on from {checkpoint}, step {step}")
    learner.restore(state)

    while step < settings["steps"]:
        loss, norm = learner.step(text, settings, step, processes)
        step += 1
        processes.say(f"step {step} loss {loss:.7f} rate {rate_at(step - 1, settings):.6g} "
                      f"norm {norm:.6g}")
        if checkpoint and (step % options.every == 0 or step == settings["steps"]):
            state = {"export": metadata["checksum"], "step": step, "state": learner.state()}
            if processes.rank == 0:
                write(checkpoint, lambda file: torch.save(state, file))
    if valid:
        processes.say(f"held-out loss {learner.evaluate(valid, settings, processes):.7f}")
    if options.out:
        weights = learner.state()["weights"]
        if processes.rank == 0:
            write_folder(pathlib.Path(options.out), source, weights, step)
            processes.say(f"saved in {options.out}, step {step}: fledge eval {options.out}")
    if dist.is_initialized():
        dist.barrier()
        sys.stdout.flush()
        # The group is not freed: PyTorch 1.13 can wait forever when it frees it. It then holds the
        # lock of the interpreter, and waits for a thread of gloo that needs this lock.
        os._exit(0)


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError, KeyError, EOFError, pickle.UnpicklingError) as error:
        stop(f"a file cannot be used: {type(error).__name__}: {error}", 3)
