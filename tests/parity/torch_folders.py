#!/usr/bin/python3
"""Folders of LlamaForCausalLM and Starcoder2ForCausalLM, written here, and models that fledge trained.

  torch_folders.py BUILD      the folder with the program fledge

Logits, loss and gradients must be PyTorch's in double (tests/programs/compare_dump.cpp), and fledge
must write back the same weights. Exit status: 0 all agree, 1 not.
"""
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import torch
from torch.nn import functional as F

from gpt import GPT, from_file, to_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHAPE = {"vocab_size": 13, "max_position_embeddings": 9, "hidden_size": 16,
         "intermediate_size": 11, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "rope_theta": 500.0, "rope_scaling": None,
         "tie_word_embeddings": False}
LLAMA = {**SHAPE, "model_type": "llama", "architectures": ["LlamaForCausalLM"],
         "hidden_act": "silu", "rms_norm_eps": 1e-3, "attention_bias": False, "mlp_bias": False}
STARCODER2 = {**SHAPE, "model_type": "starcoder2", "architectures": ["Starcoder2ForCausalLM"],
              "hidden_act": "gelu_pytorch_tanh", "norm_epsilon": 1e-3, "use_bias": True,
              "sliding_window": None, "residual_dropout": 0.0}
SMALL = {"num_hidden_layers": 1, "hidden_size": 24}
FOLDERS = {"llama shared": LLAMA, "llama tied": {**LLAMA, "tie_word_embeddings": True},
           "llama own": {**LLAMA, **SMALL, "num_key_value_heads": 4},
           "llama one": {**LLAMA, **SMALL, "num_key_value_heads": 1},
           "starcoder2 window": {**STARCODER2, "sliding_window": 4},
           "starcoder2 tied": {**STARCODER2, "tie_word_embeddings": True},
           "starcoder2 one": {**STARCODER2, **SMALL, "num_key_value_heads": 1, "use_bias": False,
                              "hidden_act": "gelu"}}

# Of numbers in files of safetensors (nn/io/safetensors.h), as numpy has them.
TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4"}

build = pathlib.Path(sys.argv[1]).resolve()
wrong = []


def require(is_right, problem):
    if not is_right:
        wrong.append(problem)
        print(problem)


def read_safetensors(path):
    """The tensors of a file by name."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        numbers = np.frombuffer(data[begin:end], TYPES[entry["dtype"]])
        tensors[name] = numbers.reshape(entry["shape"])
    return tensors


def safetensors_bytes(tensors, metadata=None):
    """The bytes of a file with these numpy arrays, sorted by name."""
    names = {np.dtype(code): name for name, code in TYPES.items()}
    header, blobs, at = {}, [], 0
    if metadata:
        header["__metadata__"] = metadata
    for name, array in sorted(tensors.items()):
        blob = array.astype(array.dtype.newbyteorder("<")).tobytes()
        header[name] = {"dtype": names[array.dtype.newbyteorder("<")], "shape": list(array.shape),
                        "data_offsets": [at, at + len(blob)]}
        blobs.append(blob)
        at += len(blob)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(blobs)


def run(*command):
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)


def write_model(folder, config):
    """A model of random weights, large enough that no part of it is negligible."""
    folder.mkdir(parents=True)
    torch.manual_seed(1)
    net = GPT(config)
    for weight in net.parameters():
        torch.nn.init.normal_(weight, weight.dim() == 1, weight.size(-1) ** -0.5)
    weights = {name: weight.numpy() for name, weight in to_file(net.state_dict(), config).items()}
    (folder / "model.safetensors").write_bytes(safetensors_bytes(weights, {"format": "pt"}))
    (folder / "config.json").write_text(json.dumps(config))


def add_reference(folder):
    """What PyTorch computes in double from the model in a folder, for compare_dump."""
    config = json.loads((folder / "config.json").read_text())
    net = GPT(config).double()
    net.load_state_dict(from_file(read_safetensors(folder / "model.safetensors"), net, config))
    torch.manual_seed(2)
    x, y = torch.randint(config["vocab_size"], (2, 3, config["max_position_embeddings"]))
    y[0, -2:] = -1  # padding
    logits = net.eval()(x)
    loss = F.cross_entropy(logits.flatten(0, 1), y.flatten(), ignore_index=-1)
    loss.backward()
    arrays = {"x": x, "y": y, "logits": logits, "loss": loss.reshape(1)}
    gradients = {name: weight.grad for name, weight in net.named_parameters()}
    arrays.update({f"{name}.grad": grad for name, grad in to_file(gradients, config).items()})
    (folder / "reference.safetensors").write_bytes(
        safetensors_bytes({name: array.detach().numpy() for name, array in arrays.items()}))


def check_folders(text):
    folder, fledge = build / "pytorch", build / "fledge"
    for name, config in FOLDERS.items():
        write_model(folder / name, config)
        run(fledge, "export", folder / name, "-o", folder / f"{name} written")
        before, after = (read_safetensors(folder / of / "model.safetensors")
                         for of in (name, f"{name} written"))
        require(before.keys() == after.keys() and
                all((before[key] == after[key]).all() for key in before),
                f"{name}: fledge must write the weights that it reads")
    (folder / "text.txt").write_text(text)
    for name, options in {"exported llama": ["--recipe", "llama"], "exported": []}.items():
        run(fledge, "train", folder / "text.txt", "-o", folder / f"{name} run", "-q", *options,
            "--key-heads", "2", "--layers", "2", "--heads", "4", "--width", "24", "--context", "12",
            "--steps", "20", "--tokens", "bpe", "--symbols", "300")
        run(fledge, "export", folder / f"{name} run", "-o", folder / name)
    for name in [*FOLDERS, "exported llama", "exported", *(f"{name} written" for name in FOLDERS)]:
        add_reference(folder / name)
        found = subprocess.run([build / "tests" / "program_compare_dump", folder / name], text=True,
                               stdout=subprocess.PIPE)
        print(found.stdout.splitlines()[-2] if found.returncode == 0 else found.stdout)
        require(found.returncode == 0, f"{name}: fledge must compute what PyTorch does")


shutil.rmtree(build / "pytorch", ignore_errors=True)
check_folders((ROOT / "examples" / "GLOSSARY.md").read_text()[:20000])
print("NOT all of it agrees" if wrong else "PyTorch computes as fledge does")
sys.exit(1 if wrong else 0)
