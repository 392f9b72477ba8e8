#!/usr/bin/python3
"""Continues a training run of fledge in PyTorch, and hands the model back.

  fledge export RUN -o FOLDER --training
  continue_training.py FOLDER --steps 2000 --out DONE
  torchrun --nproc_per_node 2 continue_training.py FOLDER --steps 2000 --out DONE
  fledge eval DONE

The steps are those that fledge itself would take next: the same batches, learning rates, weight
decay and clipping. Only dropout differs, because PyTorch draws other random numbers. If the run has
an average of the weights, it is continued, and is the model that is measured and handed back. First the
script computes fledge's check batch, and it stops if the loss or a gradient differs.

Needs PyTorch 1.13 or later and NumPy. torchrun's processes share the rows of each batch
(DistributedDataParallel, over gloo or nccl).
"""
import argparse
import json
import math
import os
import pathlib
import pickle
import sys

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from fledge_run import (Text, batch_of, evaluation_windows, rate_at, read_safetensors,
                        safetensors_bytes, windows_of, write)
from gpt import GPT, sum_of_losses, to_file
from optimizers import optimizers_of


def stop(problem, status=1):
    print(f"continue_training.py: {problem}", file=sys.stderr)
    sys.exit(status)


class Processes:
    """This process among those that torchrun started; or it is alone."""

    def __init__(self):
        self.rank, self.count = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
        has_gpu = torch.cuda.is_available()
        self.device = torch.device(f"cuda:{os.environ.get('LOCAL_RANK', 0)}" if has_gpu else "cpu")
        if has_gpu:
            torch.cuda.set_device(self.device)
        if "RANK" in os.environ:
            dist.init_process_group("nccl" if has_gpu else "gloo")

    def say(self, text):
        if self.rank == 0:
            print(text, flush=True)

    def sum(self, number):
        total = number.detach().double()
        if self.count > 1:
            dist.all_reduce(total)
        return total.item()

    def rows(self, text, windows):
        """This process's rows of a batch. If there is none for it, a row without targets."""
        own = windows[self.rank::self.count]
        inputs, targets = batch_of(text, own or windows[:1])
        targets = targets if own else np.full_like(targets, -1)
        return torch.tensor(inputs).to(self.device), torch.tensor(targets).to(self.device)


class Learner:
    """A model in all processes, and its optimisers."""

    def __init__(self, model, settings, processes):
        self.settings, self.processes = settings, processes
        self.named = dict(model.named_parameters())
        self.model = DistributedDataParallel(model) if dist.is_initialized() else model
        self.optimizers = optimizers_of(self.named, settings)
        self.owner = {p: optimizer for optimizer in self.optimizers
                      for group in optimizer.param_groups for p in group["params"]}

    def state(self):
        """{"weights": {NAME: tensor}, "moments": {NAME: {"step", "exp_avg", "exp_avg_sq"}, or of a
        matrix of Muon {"momentum"}}, "average": {NAME: tensor}}"""
        return {"weights": {name: p.detach() for name, p in self.named.items()},
                "moments": {name: self.owner[p].state[p] for name, p in self.named.items()},
                "average": self.average}

    def restore(self, state):
        self.average = {name: value.to(self.processes.device)
                        for name, value in state["average"].items()}
        with torch.no_grad():
            for name, p in self.named.items():
                p.copy_(state["weights"][name])
                self.owner[p].state[p] = {
                    key: value.to("cpu" if key == "step" else p.device)
                    for key, value in state["moments"][name].items()}

    def step(self, text, step):
        """The loss and the norm of the gradients before clipping."""
        settings, processes = self.settings, self.processes
        self.model.train()
        torch.manual_seed(settings["seed"] % 2**62 + step * processes.count + processes.rank)
        windows = windows_of(text, settings, step)
        inputs, targets = processes.rows(text, windows)
        # A process has its rows' part of the mean over all targets of the step. Gradients are
        # averaged over the processes, hence the factor.
        share = sum_of_losses(self.model(inputs), targets) / sum(length for _, length, _ in windows)
        (share * processes.count).backward()
        loss = processes.sum(share)
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), settings["clip"] or math.inf)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate_at(step, settings)
            optimizer.step()
            optimizer.zero_grad()
        share = 1 - min(settings["average"], (step + 1) / (step + 11))  # nn/optim/weight_average.h
        for name, p in self.named.items():
            self.average[name].lerp_(p.detach(), share)
        return loss, norm.item()

    @torch.no_grad()
    def use_average(self):
        for name, p in self.named.items():
            p.copy_(self.average[name])

    @torch.no_grad()
    def evaluate(self, text):
        """The mean loss over every token of a text, each counted once (mean_loss in nn/train)."""
        self.model.eval()
        windows, batch = evaluation_windows(text, self.settings["context"]), self.settings["batch"]
        total = torch.zeros((), dtype=torch.double)
        for at in range(0, len(windows), batch):
            inputs, targets = self.processes.rows(text, windows[at:at + batch])
            total += sum_of_losses(self.model(inputs), targets).cpu()
        return (self.processes.sum(total.to(self.processes.device))
                / sum(length - skip for _, length, skip in windows))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="what fledge export --training wrote")
    parser.add_argument("--steps", type=int, help="total number of steps, those of fledge included")
    parser.add_argument("--out", help="a folder for fledge eval and fledge generate")
    parser.add_argument("--checkpoint", help="a file to save to, and to go on from if it exists")
    parser.add_argument("--every", type=int, default=100, help="steps between two checkpoints")
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
    batch = batch_of(text, windows_of(text, settings, settings["step"]))
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
    config = json.loads((source / "config.json").read_text())
    tensors = to_file({name: tensor.float().cpu().numpy() for name, tensor in weights.items()},
                      config)
    for name, weight in list(tensors.items()):  # GPT-2 always has biases
        if config["model_type"] == "gpt2" and ".c_" in name and name.endswith(".weight"):
            tensors.setdefault(name[:-6] + "bias", np.zeros(weight.shape[1], np.float32))
    data = safetensors_bytes(tensors, {"format": "pt", "step": str(step)})
    write(out / "model.safetensors", lambda file: file.write(data))
    for path in [*source.glob("*.json"), *source.glob("*.txt")]:  # config.json and the tokenizer
        write(out / path.name, lambda file: file.write(path.read_bytes()))


def exported_state(model, tensors, gradients):
    """The state in training.safetensors."""
    tensors = {name: torch.tensor(array) for name, array in tensors.items()}
    weights = {name: tensors[name] for name, _ in model.named_parameters()}
    def moments(name, weight):
        if "muon.m." + name in tensors:
            return {"momentum": tensors["muon.m." + name]}
        return {"step": torch.tensor(float(gradients[name])),
                "exp_avg": tensors.get("adamw.m." + name, torch.zeros_like(weight)),
                "exp_avg_sq": tensors.get("adamw.v." + name, torch.zeros_like(weight))}

    return {"weights": weights,
            "moments": {name: moments(name, weight) for name, weight in weights.items()},
            "average": {name: tensors.get("average." + name, weight).clone()
                        for name, weight in weights.items()}}


def main():
    options, processes = arguments(), Processes()
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
    learner = Learner(model, settings, processes)
    checkpoint = pathlib.Path(options.checkpoint) if options.checkpoint else None
    if checkpoint and checkpoint.exists():
        saved = torch.load(checkpoint, map_location="cpu")
        if saved["export"] != metadata["checksum"]:
            stop(f"{checkpoint} must be a checkpoint of this folder: it is of another export")
        state, step = saved["state"], saved["step"]
        processes.say(f"going on from {checkpoint}, step {step}")
    learner.restore(state)

    while step < settings["steps"]:
        loss, norm = learner.step(text, step)
        step += 1
        processes.say(f"step {step} loss {loss:.7f} rate {rate_at(step - 1, settings):.6g} "
                      f"norm {norm:.6g}")
        is_due = step % options.every == 0 or step == settings["steps"]
        if checkpoint and is_due and processes.rank == 0:
            state = {"export": metadata["checksum"], "step": step, "state": learner.state()}
            write(checkpoint, lambda file: torch.save(state, file))
    learner.use_average()
    if valid:
        processes.say(f"held-out loss {learner.evaluate(valid):.7f}")
    if options.out and processes.rank == 0:
        write_folder(pathlib.Path(options.out), source, learner.state()["weights"], step)
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
