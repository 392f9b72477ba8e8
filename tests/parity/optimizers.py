"""The optimisers of a model: AdamW, and Muon if it moves the matrices of the blocks."""
import torch


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
