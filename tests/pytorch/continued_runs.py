#!/usr/bin/python3
"""Continues runs of fledge in PyTorch, and compares them with fledge that continues them itself.

  continued_runs.py BUILD      the folder with the program fledge

A text as characters, also with Muon, and a list of unequal lines. One process, which is killed and goes on from its
checkpoint, and two processes that torchrun starts. Every loss must be fledge's to 1e-4, and what is
handed back must have PyTorch's held-out loss under fledge eval, to 1e-5. Two passes of lines must
be one batch twice as large. A wrong weight must be noticed. Exit status: 0 all agree, 1 not.
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

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "examples" / "pytorch"))
from fledge_run import read_safetensors, safetensors_bytes  # noqa: E402

SCRIPT = ROOT / "examples" / "pytorch" / "continue_training.py"
BEFORE, AFTER, EVERY = 40, 90, 25
OPTIONS = ["--layers", "2", "--heads", "3", "--width", "24", "--warmup", "10", "--lr", "0.003",
           "--dropout", "0", "--seed", "7"]
TWO_PASSES, ONE_PASS = ["--batch", "5", "--accumulate", "2"], ["--batch", "10"]
CASES = {"characters": ["--context", "32"], "lines": ["--context", "16", "--lines"],
         "muon": ["--context", "32", "--optimizer", "muon"]}
LOSS, EVAL = 1e-4, 1e-5  # the largest differences

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
    run(build / "fledge", "train", text, "-o", began, "--steps", BEFORE, *options, "-q",
        "--no-progress")
    shutil.copytree(began, continued)
    run(build / "fledge", "train", "--resume", continued, "--steps", AFTER, "-q", "--no-progress")
    rows = csv.DictReader(run(build / "fledge", "plot", continued, "--csv").splitlines())
    return {int(row["step"]): float(row["loss"]) for row in rows}


def check_case(name, text):
    folder = build / "pytorch" / name
    folder.mkdir(parents=True)
    (folder / "text.txt").write_text(text)
    began, exported, fledge = folder / "began", folder / "exported", build / "fledge"
    options = [*OPTIONS, *CASES[name]]
    expected = losses_of_fledge(folder / "text.txt", began, *options, *TWO_PASSES)
    if "--lines" in options:
        whole = losses_of_fledge(folder / "text.txt", folder / "whole", *options, *ONE_PASS)
        worst = max(abs(expected[step] - whole[step]) for step in expected)
        print(f"\nfledge: two passes of 5 lines beside one of 10: {worst:.1e}")
        require(worst <= LOSS, f"two passes of lines must be one batch: they differ by {worst}")
    run(fledge, "export", began, "-o", exported, "--training")

    arguments = [SCRIPT, exported, "--steps", AFTER, "--checkpoint", folder / "checkpoint.pt",
                 "--every", EVERY]
    outputs = {"killed": killed_after(BEFORE + EVERY, sys.executable, *arguments)}
    outputs["one"] = run(sys.executable, *arguments, "--out", folder / "one")
    outputs["two"] = run(*two_processes(), SCRIPT, exported, "--steps", AFTER, "--out",
                         folder / "two")
    require("going on from" in outputs["one"], "a process that was killed does not go on")
    compare_losses(name, expected, outputs)
    for out in ("one", "two"):
        right = float(re.search(r"held-out loss (\S+)", outputs[out]).group(1))
        found = json.loads(run(fledge, "eval", folder / out, "--json"))["loss"]
        print(f"{name}, {out} process{'es' * (out == 'two')}: held-out loss {right:.7f} in PyTorch, "
              f"fledge eval {found:.7f}")
        require(abs(found - right) <= EVAL, f"fledge eval must give {right}: got {found}")
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


def main():
    os.environ.update(OMP_NUM_THREADS="1", GLOO_SOCKET_IFNAME="lo")
    shutil.rmtree(build / "pytorch", ignore_errors=True)
    text = (ROOT / "examples" / "GLOSSARY.md").read_text()[:20000]
    words = sorted(set(re.findall(r"[a-z]+", text)))
    check_case("characters", text)
    check_case("muon", text)
    check_case("lines", "".join(" ".join(words[i:i + 1 + i % 4]) + "\n" for i in range(len(words))))
    print("\n" + ("NOT all of it agrees" if wrong else "PyTorch continues the runs as fledge does"))
    sys.exit(1 if wrong else 0)


main()
