"""The models of fledge's folders in PyTorch: GPT-2, Llama and Starcoder2, with GPT-2's names."""
import math
from types import SimpleNamespace

import torch
import torch.nn as nn
import torch.nn.functional as F


def sizes_of(config):
    """What a config.json of one of the three says, under one name each."""
    s = SimpleNamespace(kind=config["model_type"], vocabulary=config["vocab_size"], base=None,
                        window=None, is_tied=True, gelu="tanh")
    if s.kind == "gpt2":
        s.width, s.heads, s.layers = config["n_embd"], config["n_head"], config["n_layer"]
        s.keys, s.context = s.heads, config["n_positions"]
        s.hidden = config.get("n_inner") or 4 * s.width
        s.eps = config.get("layer_norm_epsilon", 1e-5)
        s.bias = config.get("bias", True)
        s.gelu = "none" if config.get("activation_function") == "gelu" else "tanh"
        return s
    s.width, s.heads, s.layers, s.keys, s.context, s.hidden, s.base = (config[key] for key in (
        "hidden_size", "num_attention_heads", "num_hidden_layers", "num_key_value_heads",
        "max_position_embeddings", "intermediate_size", "rope_theta"))
    s.is_tied = config["tie_word_embeddings"]
    if s.kind == "llama":
        s.bias, s.eps = False, config["rms_norm_eps"]
    else:
        s.bias, s.eps = config["use_bias"], config["norm_epsilon"]
        s.window = config["sliding_window"]
        s.gelu = "none" if config["hidden_act"] == "gelu" else "tanh"
    return s


class Linear(nn.Module):
    """y = x·W + b. The weight is (in, out), as in GPT-2's files; nn.Linear has it transposed."""

    def __init__(self, inputs, outputs, bias):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.empty(outputs)) if bias else None

    def forward(self, x):
        return F.linear(x, self.weight.T, self.bias)


class RMSNorm(nn.Module):
    """y = weight·x / √(mean(x²) + eps)   (Zhang & Sennrich 2019)"""

    def __init__(self, width, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.empty(width)), eps

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps)


def norm(s):
    return RMSNorm(s.width, s.eps) if s.kind == "llama" else nn.LayerNorm(s.width, s.eps)


def rotated(x, base):
    """Rotary positions (Su et al. 2021): the halves of a head are the two parts of its pairs, as in
    transformers. Pair i of position t turns by t·base^(−2i/D). x, y (batch, heads, time, D)"""
    size = x.size(3)
    rates = base ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)
    angles = torch.arange(x.size(2), dtype=torch.float64)[:, None] * rates
    cos, sin = (f(angles).to(x) for f in (torch.cos, torch.sin))
    a, b = x.chunk(2, dim=3)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=3)


class Attention(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.s, self.size = s, s.width // s.heads
        self.c_attn = Linear(s.width, s.width + 2 * s.keys * self.size, s.bias)
        self.c_proj = Linear(s.width, s.width, s.bias)

    def forward(self, x):
        (b, t, c), s = x.shape, self.s
        q, k, v = (part.view(b, t, -1, self.size).transpose(1, 2) for part in
                   self.c_attn(x).split([c, s.keys * self.size, s.keys * self.size], dim=2))
        if s.base:
            q, k = rotated(q, s.base), rotated(k, s.base)
        k, v = (part.repeat_interleave(s.heads // s.keys, dim=1) for part in (k, v))
        seen = torch.ones(t, t, dtype=torch.bool).tril()
        if s.window:  # itself the last
            seen = seen.triu(1 - s.window)
        scores = q @ k.transpose(2, 3) / math.sqrt(self.size)
        y = scores.masked_fill(~seen, -math.inf).softmax(3) @ v
        return self.c_proj(y.transpose(1, 2).reshape(b, t, c))


class MLP(nn.Module):
    """gelu, or SwiGLU: y = (silu(x·c_gate) ⊙ x·c_fc)·c_proj   (Shazeer 2020)"""

    def __init__(self, s):
        super().__init__()
        self.c_gate = Linear(s.width, s.hidden, s.bias) if s.kind == "llama" else None
        self.c_fc, self.c_proj = (Linear(s.width, s.hidden, s.bias),
                                  Linear(s.hidden, s.width, s.bias))
        self.approximate = s.gelu

    def forward(self, x):
        if self.c_gate:
            return self.c_proj(F.silu(self.c_gate(x)) * self.c_fc(x))
        return self.c_proj(F.gelu(self.c_fc(x), approximate=self.approximate))


class Block(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.ln_1, self.attn, self.ln_2, self.mlp = norm(s), Attention(s), norm(s), MLP(s)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    """The model of a config.json: x = wte[ids] + wpe; blocks; ln_f(x)·wteᵀ. With rotary positions
    there is no wpe, and with a head of its own lm_head stands in the place of wte at the end."""

    def __init__(self, config):
        super().__init__()
        s = sizes_of(config)
        self.wte = nn.Embedding(s.vocabulary, s.width)
        self.wpe = None if s.base else nn.Embedding(s.context, s.width)
        self.h = nn.ModuleList(Block(s) for _ in range(s.layers))
        self.ln_f = norm(s)
        self.lm_head = None if s.is_tied else nn.Linear(s.width, s.vocabulary, bias=False)

    def forward(self, ids):
        x = self.wte(ids)
        if self.wpe:
            x = x + self.wpe.weight[:ids.size(1)]
        for block in self.h:
            x = block(x)
        return F.linear(self.ln_f(x), (self.lm_head or self.wte).weight)


def names_of(own, s):
    """The tensors of a parameter in the files of its family: [(name, first column, columns)].
    Llama's and Starcoder2's are transposed: (out, in)."""
    stem, kind = own.rsplit(".", 1)
    if s.kind == "gpt2":
        return [(own, 0, None)]
    block = ""
    if stem.startswith("h."):
        layer, stem = stem[2:].split(".", 1)
        block = f"model.layers.{layer}."
    keys = s.keys * (s.width // s.heads)
    if stem == "attn.c_attn":
        return [(f"{block}self_attn.{name}_proj.{kind}", first, count) for name, first, count in
                (("q", 0, s.width), ("k", s.width, keys), ("v", s.width + keys, keys))]
    up, down = ("up_proj", "down_proj") if s.kind == "llama" else ("c_fc", "c_proj")
    name = {"wte": "model.embed_tokens", "ln_f": "model.norm", "lm_head": "lm_head",
            "ln_1": "input_layernorm", "ln_2": "post_attention_layernorm",
            "attn.c_proj": "self_attn.o_proj", "mlp.c_gate": "mlp.gate_proj",
            "mlp.c_fc": "mlp." + up, "mlp.c_proj": "mlp." + down}[stem]
    return [(f"{block}{name}.{kind}", 0, None)]


def is_transposed(own, array, s):
    return s.kind != "gpt2" and ".c_" in own and array.ndim == 2


def to_file(tensors, config):
    """Arrays by the model's names, as the files of its family have them."""
    s, found = sizes_of(config), {}
    for own, array in tensors.items():
        for name, first, count in names_of(own, s):
            part = array if count is None else array[..., first:first + count]
            found[name] = part.T if is_transposed(own, array, s) else part
    return found


def from_file(tensors, model, config):
    """The opposite direction, for a model's state."""
    s, found = sizes_of(config), {}
    for own, weight in model.named_parameters():
        parts = [torch.tensor(tensors[name]) for name, _, _ in names_of(own, s)]
        turn = is_transposed(own, weight, s)
        found[own] = torch.cat([part.T if turn else part for part in parts], -1)
    return found
