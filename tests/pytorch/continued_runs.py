#!/usr/bin/python3
"""Continues runs of fledge in PyTorch, and compares them with fledge that continues them itself.

  continued_runs.py BUILD      the folder with the program fledge

A text as characters, with GPT-2's parts and as `fledge train` chooses them (rotary positions, Muon),
Llama's parts, and a list of unequal lines. One process, which is killed and goes on from its
checkpoint, and two processes that torchrun starts. Every loss must be fledge's to 1e-4, at the end
that of the average of the weights too. What is handed back must have PyTorch's held-out loss under
fledge eval, to 1e-5. Two passes of lines must be one batch twice as large. A wrong weight must be
noticed.

Folders of LlamaForCausalLM and Starcoder2ForCausalLM, written here and exported by fledge: logits,
loss and gradients must be PyTorch's in double (tests/programs/compare_dump.cpp), and fledge must
write back the same weights. Exit status: 0 all agree, 1 not.
"""
import csv
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys

import torch
from torch.nn import functional as F

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "examples" / "pytorch"))
from fledge_run import read_safetensors, safetensors_bytes  # noqa: E402
from gpt import GPT, from_file, to_file  # noqa: E402

SCRIPT = ROOT / "examples" / "pytorch" / "continue_training.py"
BEFORE, AFTER, EVERY = 40, 90, 25
OPTIONS = ["--layers", "2", "--heads", "3", "--width", "24", "--warmup", "10", "--lr", "0.003",
           "--dropout", "0", "--seed", "7", "--batch", "10"]
GPT2 = ["--recipe", "gpt2", "--optimizer", "adamw"]
CASES = {"characters": ["--context", "32", *GPT2], "lines": ["--context", "16", "--lines", *GPT2],
         "chosen": ["--context", "32", "--key-heads", "1", "--window", "20"],
         "llama": ["--context", "32", "--recipe", "llama"]}
LOSS, EVAL = 1e-4, 1e-5  # the largest differences
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

build = pathlib.Path(sys.argv[1]).resolve()
wrong = []


def require(is_right, problem):
    if not is_right:
        wrong.append(problem)
        print(problem)


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def two_processes():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # PyTorch 1.13 cannot read the default of these two options under Python 3.11.
    old = ["--redirects", "9:1", "--tee", "9:1"] if torch.__version__ < "2" else []
    return [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2",
            "--master_addr", "127.0.0.1", "--master_port", str(port), *old]


def losses_of(output):
    return {int(step): float(loss) for step, loss in re.findall(r"step (\d+) loss (\S+)", output)}


def killed_after(step, *command):
    """What a process prints before it is killed."""
    lines = []
    with subprocess.Popen([str(word) for word in command], text=True,
                          stdout=subprocess.PIPE) as process:
        for line in process.stdout:
            lines.append(line)
            if line.startswith(f"step {step} "):
                process.kill()
    return "".join(lines)


def losses_of_fledge(text, began, *options):
    """Of a run that ends in the folder `began` after BEFORE steps, and that a copy continues."""
    continued = began.with_name(began.name + "-continued")
    run(build / "fledge", "train", text, "-o", began, "--steps", BEFORE, *options, "-q")
    shutil.copytree(began, continued)
    run(build / "fledge", "train", "--resume", continued, "--steps", AFTER, "-q")
    rows = csv.DictReader(run(build / "fledge", "plot", continued, "--csv").splitlines())
    return {int(row["step"]): float(row["loss"]) for row in rows}


def check_case(name, text):
    folder = build / "pytorch" / name
    folder.mkdir(parents=True)
    (folder / "text.txt").write_text(text)
    began, exported, fledge = folder / "began", folder / "exported", build / "fledge"
    options = [*OPTIONS, *CASES[name]]
    expected = losses_of_fledge(folder / "text.txt", began, *options)
    run(fledge, "export", began, "-o", exported, "--training")

    arguments = [SCRIPT, exported, "--steps", AFTER, "--checkpoint", folder / "checkpoint.pt",
                 "--every", EVERY]
    outputs = {"killed": killed_after(BEFORE + EVERY, sys.executable, *arguments)}
    outputs["one"] = run(sys.executable, *arguments, "--out", folder / "one")
    outputs["two"] = run(*two_processes(), SCRIPT, exported, "--steps", AFTER, "--out",
                         folder / "two")
    require("going on from" in outputs["one"], "a process that was killed does not go on")
    compare_losses(name, expected, outputs)
    def eval_loss(of):
        return json.loads(run(fledge, "eval", folder / of, "--json"))["loss"]
    for out in ("one", "two"):
        right = float(re.search(r"held-out loss (\S+)", outputs[out]).group(1))
        found, own = eval_loss(out), eval_loss("began-continued")
        print(f"{name}, {out} process{'es' * (out == 'two')}: held-out loss {right:.7f} in PyTorch, "
              f"fledge eval {found:.7f}")
        require(abs(found - right) <= EVAL, f"fledge eval must give {right}: got {found}")
        require(abs(own - right) <= LOSS, f"fledge's own run ends at {own}, PyTorch at {right}")
    check_wrong_weight(exported)


def compare_losses(name, expected, outputs):
    runs = {"one": {**losses_of(outputs["killed"]), **losses_of(outputs["one"])},
            "two": losses_of(outputs["two"])}
    print(f"\n{name:12}    fledge  1 process  2 processes")
    worst = 0
    for step in range(BEFORE + 1, AFTER + 1):
        row = [expected[step], runs["one"].get(step, float("nan")),
               runs["two"].get(step, float("nan"))]
        difference = max(abs(row[0] - loss) if loss == loss else float("inf") for loss in row[1:])
        worst = max(worst, difference)
        if step % 5 == 0 or step == BEFORE + 1 or not difference <= LOSS:
            print(f"step {step:7} {row[0]:9.6f}  {row[1]:9.6f}    {row[2]:9.6f}")
    print(f"largest difference in {AFTER - BEFORE} steps: {worst:.1e}")
    require(worst <= LOSS, f"{name}: the losses must differ by at most {LOSS}: got {worst}")


def check_wrong_weight(exported):
    """The script must notice one wrong weight, before it trains."""
    path = exported / "training.safetensors"
    tensors, metadata = read_safetensors(path)
    changed = tensors["h.1.mlp.c_proj.weight"].copy()
    changed[0, 0] += 0.1
    path.write_bytes(safetensors_bytes({**tensors, "h.1.mlp.c_proj.weight": changed}, metadata))
    found = subprocess.run([sys.executable, SCRIPT, exported, "--steps", str(AFTER)], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    require(found.returncode == 1 and "must have fledge's" in found.stderr and not found.stdout,
            f"a wrong weight must be noticed: got {found.returncode}, {found.stderr}")


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
    net.load_state_dict(from_file(read_safetensors(folder / "model.safetensors")[0], net, config))
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
    folder, fledge = build / "pytorch" / "folders", build / "fledge"
    for name, config in FOLDERS.items():
        write_model(folder / name, config)
        run(fledge, "export", folder / name, "-o", folder / f"{name} written")
        before, after = (read_safetensors(folder / of / "model.safetensors")[0]
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


def main():
    os.environ.update(OMP_NUM_THREADS="1", GLOO_SOCKET_IFNAME="lo")
    shutil.rmtree(build / "pytorch", ignore_errors=True)
    text = (ROOT / "examples" / "GLOSSARY.md").read_text()[:20000]
    words = sorted(set(re.findall(r"[a-z]+", text)))
    check_folders(text)
    for name in ("characters", "chosen", "llama"):
        check_case(name, text)
    check_case("lines", "".join(" ".join(words[i:i + 1 + i % 4]) + "\n" for i in range(len(words))))
    print("\n" + ("NOT all of it agrees" if wrong else "PyTorch computes as fledge does"))
    sys.exit(1 if wrong else 0)


main()
