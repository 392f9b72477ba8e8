"""GPT-2's model in PyTorch, with the names and shapes of GPT-2's files."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Linear(nn.Module):
    """y = x·W + b. The weight is (in, out), as in GPT-2's files; nn.Linear has it transposed."""

    def __init__(self, inputs, outputs, bias):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.empty(outputs)) if bias else None

    def forward(self, x):
        return F.linear(x, self.weight.T, self.bias)


class Attention(nn.Module):
    def __init__(self, width, heads, bias):
        super().__init__()
        self.heads = heads
        self.c_attn, self.c_proj = Linear(width, 3 * width, bias), Linear(width, width, bias)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (part.view(b, t, self.heads, c // self.heads).transpose(1, 2)
                   for part in self.c_attn(x).split(c, dim=2))
        if hasattr(F, "scaled_dot_product_attention"):
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            hidden = torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1)
            scores = q @ k.transpose(2, 3) / math.sqrt(q.size(3))
            y = scores.masked_fill(hidden, -math.inf).softmax(3) @ v
        return self.c_proj(y.transpose(1, 2).reshape(b, t, c))


class MLP(nn.Module):
    def __init__(self, width, hidden, bias, approximate):
        super().__init__()
        self.c_fc, self.c_proj = Linear(width, hidden, bias), Linear(hidden, width, bias)
        self.approximate = approximate

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x), approximate=self.approximate))


class Block(nn.Module):
    def __init__(self, config, bias):
        super().__init__()
        width, eps = config["n_embd"], config.get("layer_norm_epsilon", 1e-5)
        self.ln_1, self.ln_2 = nn.LayerNorm(width, eps), nn.LayerNorm(width, eps)
        self.attn = Attention(width, config["n_head"], bias)
        self.mlp = MLP(width, config.get("n_inner") or 4 * width, bias,
                       "none" if config.get("activation_function") == "gelu" else "tanh")
        self.dropout = nn.Dropout(config.get("resid_pdrop", 0.0))

    def forward(self, x):
        x = x + self.dropout(self.attn(self.ln_1(x)))
        return x + self.dropout(self.mlp(self.ln_2(x)))


class GPT(nn.Module):
    """The model of a config.json, with GPT-2's names: x = wte[ids] + wpe; blocks; ln_f(x)·wteᵀ."""

    def __init__(self, config):
        super().__init__()
        width, bias = config["n_embd"], config.get("bias", True)
        self.wte = nn.Embedding(config["vocab_size"], width)
        self.wpe = nn.Embedding(config["n_positions"], width)
        self.dropout = nn.Dropout(config.get("embd_pdrop", 0.0))
        self.h = nn.ModuleList(Block(config, bias) for _ in range(config["n_layer"]))
        self.ln_f = nn.LayerNorm(width, config.get("layer_norm_epsilon", 1e-5))

    def forward(self, ids):
        x = self.dropout(self.wte(ids) + self.wpe.weight[:ids.size(1)])
        for block in self.h:
            x = block(x)
        return F.linear(self.ln_f(x), self.wte.weight)


def sum_of_losses(logits, targets):
    """Σ −log softmax(logits)[target], without the targets of padding."""
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1,
                           reduction="sum")
