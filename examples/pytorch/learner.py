"""Steps of AdamW on a model that several processes train."""
import contextlib
import math
import os
import sys
from types import SimpleNamespace

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from fledge_run import batch_of, evaluation_windows, rate_at, windows_of
from gpt import Block, sum_of_losses


def stop(problem, status=1):
    print(f"continue_training.py: {problem}", file=sys.stderr)
    sys.exit(status)


class Processes:
    """This process among those that torchrun started; or it is alone."""

    def __init__(self):
        self.rank, self.count = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
        has_gpu = torch.cuda.is_available()
        local = int(os.environ.get("LOCAL_RANK", 0))
        self.device = torch.device(f"cuda:{local}" if has_gpu else "cpu")
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


def fsdp_functions():
    """What --fsdp needs of PyTorch."""
    try:
        from torch.distributed.checkpoint.state_dict import (StateDictOptions, get_state_dict,
                                                             set_state_dict)
        from torch.distributed.fsdp import FullyShardedDataParallel
        from torch.distributed.fsdp.wrap import ModuleWrapPolicy
    except Exception as error:  # PyTorch 1.13 raises ValueError under Python 3.11
        stop(f"--fsdp cannot be used, because PyTorch {torch.__version__} with Python "
             f"{sys.version.split()[0]} does not import it ({type(error).__name__}); use PyTorch "
             "2.4 or later, or leave --fsdp out", 2)
    return SimpleNamespace(FSDP=FullyShardedDataParallel, ModuleWrapPolicy=ModuleWrapPolicy,
                           get_state_dict=get_state_dict, set_state_dict=set_state_dict,
                           whole=StateDictOptions(full_state_dict=True))


class Learner:
    """A model in all processes, and its optimiser. States are whole and have GPT-2's names."""

    def __init__(self, model, settings, processes, fsdp):
        matrices = {name for name, p in model.named_parameters() if p.dim() >= 2}
        self.model, self.fsdp = model, fsdp
        if fsdp:
            self.model = fsdp.FSDP(model, auto_wrap_policy=fsdp.ModuleWrapPolicy({Block}),
                                   use_orig_params=True, device_id=processes.device)
        elif dist.is_initialized():
            self.model = DistributedDataParallel(model)
        self.named = {name.replace("_fsdp_wrapped_module.", "").replace("module.", ""): p
                      for name, p in self.model.named_parameters()}
        groups = [[p for name, p in self.named.items() if (name in matrices) == decays]
                  for decays in (True, False)]
        self.optimizer = torch.optim.AdamW(
            [{"params": groups[0], "weight_decay": settings["decay"]},
             {"params": groups[1], "weight_decay": 0.0}],
            betas=(settings["beta1"], settings["beta2"]), eps=settings["eps"])

    def state(self):
        """{"weights": {NAME: tensor}, "moments": {NAME: {"step", "exp_avg", "exp_avg_sq"}}}"""
        if self.fsdp:
            weights, optimizer = self.fsdp.get_state_dict(
                self.model, self.optimizer, options=self.fsdp.whole)
            return {"weights": weights, "moments": optimizer["state"]}
        return {"weights": {name: p.detach() for name, p in self.named.items()},
                "moments": {name: self.optimizer.state[p] for name, p in self.named.items()}}

    def restore(self, state):
        if self.fsdp:
            optimizer = self.fsdp.get_state_dict(self.model, self.optimizer,
                                                 options=self.fsdp.whole)[1]
            self.fsdp.set_state_dict(self.model, self.optimizer, options=self.fsdp.whole,
                                     model_state_dict=state["weights"],
                                     optim_state_dict={**optimizer, "state": state["moments"]})
            return
        with torch.no_grad():
            for name, p in self.named.items():
                p.copy_(state["weights"][name])
                self.optimizer.state[p] = {
                    key: value.to("cpu" if key == "step" else p.device)
                    for key, value in state["moments"][name].items()}

    def step(self, text, settings, step, processes):
        """The loss and the norm of the gradients before clipping."""
        self.model.train()
        torch.manual_seed(settings["seed"] % 2**62 + step * processes.count + processes.rank)
        loss, count = 0.0, settings["accumulate"]
        passes = [windows_of(text, settings, step, part) for part in range(count)]
        all_targets = sum(length for windows in passes for _, length in windows)
        for part, windows in enumerate(passes):
            inputs, targets = processes.rows(text, windows)
            waits = part < count - 1 and dist.is_initialized()  # gradients are averaged once
            with self.model.no_sync() if waits else contextlib.nullcontext():
                # A process has its rows' part of the mean over all targets of the step. Gradients
                # are averaged over the processes, hence the factor.
                share = sum_of_losses(self.model(inputs), targets) / all_targets
                (share * processes.count).backward()
            loss += processes.sum(share)
        clip = settings["clip"] or math.inf
        norm = self.model.clip_grad_norm_(clip) if self.fsdp else \
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), clip)
        for group in self.optimizer.param_groups:
            group["lr"] = rate_at(step, settings)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss, norm.item()

    def evaluate(self, text, settings, processes):
        """The mean loss over every token of a text, each predicted once."""
        self.model.eval()
        windows = evaluation_windows(text, settings["context"])
        total = torch.zeros((), dtype=torch.double)
        with torch.no_grad():
            for at in range(0, len(windows), settings["batch"]):
                inputs, targets = processes.rows(text, windows[at:at + settings["batch"]])
                total += sum_of_losses(self.model(inputs), targets).cpu()
        return processes.sum(total.to(processes.device)) / sum(length for _, length in windows)
