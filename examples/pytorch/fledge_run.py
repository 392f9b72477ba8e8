"""What fledge has besides its model, in Python: safetensors files, random numbers, batches.

A function gives exactly what the C++ source that it names gives.
"""
import json
import math
import os

import numpy as np

TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4"}


def read_safetensors(path):
    """The tensors of a file by name, as numpy arrays, and its metadata (nn/io/safetensors.h)."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        numbers = np.frombuffer(data[begin:end], TYPES[entry["dtype"]])
        tensors[name] = numbers.reshape(entry["shape"])
    return tensors, metadata


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


def write(path, save):
    """Writes a file beside its place, and moves it there when it is on the disk."""
    beside = path.with_name(path.name + ".new")
    with open(beside, "wb") as file:
        save(file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)
    folder = os.open(path.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


MASK = 2**64 - 1
GAMMA = 0x9E3779B97F4A7C15


def mix(z):
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


class Rng:
    """SplitMix64 (engine/base/random.h)."""

    def __init__(self, seed):
        self.key, self.counter = mix(seed + GAMMA & MASK), 0

    def stream(self, purpose):
        child = Rng(0)
        child.key = mix(mix(self.key) ^ mix(purpose + GAMMA & MASK))
        return child

    def bits(self):
        self.counter += 1
        return mix(self.key + GAMMA * self.counter & MASK)

    def uniform(self):
        return (self.bits() >> 11) * 2.0**-53

    def below(self, n):
        limit = MASK - MASK % n
        draw = self.bits()
        while draw >= limit:
            draw = self.bits()
        return draw % n


class Text:
    """Tokens. Of lines, document i is tokens[starts[i]] … tokens[starts[i + 1]], both included."""

    def __init__(self, tokens, lengths=None):
        self.tokens = tokens.astype(np.int64)
        is_lines = lengths is not None
        self.starts = [0, *map(int, np.cumsum(lengths.astype(np.int64)))] if is_lines else []

    def document(self, i):
        return self.starts[i], self.starts[i + 1] - self.starts[i]


def permutation_element(i, n, order):
    """Element i of a random permutation of 0 … n − 1 (nn/text/batches.h)."""
    half_bits = 1
    while half_bits < 31 and (n - 1) >> (2 * half_bits) > 0:
        half_bits += 1
    mask = (1 << half_bits) - 1
    while True:
        left, right = i >> half_bits, i & mask
        for step in range(1, 7):
            mixed = order.stream(step << 32 | right).bits() & mask
            left, right = right, left ^ mixed
        i = left << half_bits | right
        if i < n:
            return i


def sample_windows(text, batch, context, draw, data):
    """(begin, length, 0) of each row of a batch: `length` predictions (nn/text/batches.h)."""
    if not text.starts:
        rng = data.stream(draw)
        return [(rng.below(len(text.tokens) - context), context, 0) for _ in range(batch)]
    windows, documents = [], len(text.starts) - 1
    for drawn in range(draw * batch, (draw + 1) * batch):
        epoch, place = data.stream(drawn // documents), drawn % documents
        begin, length = text.document(permutation_element(place, documents, epoch))
        if length > context:
            begin += epoch.stream(place).below(length - context + 1)
            length = context
        windows.append((begin, length, 0))
    return windows


def evaluation_windows(text, context):
    """Windows that overlap by half and count each target once (nn/text/batches.h)."""
    wholes = [text.document(i) for i in range(len(text.starts) - 1)]
    if not text.starts:
        wholes = [(0, len(text.tokens) - 1)]
    windows = []
    for begin, length in wholes:
        at = 0
        while at < length:
            skip = min(at, context // 2)
            windows.append((begin + at - skip, min(context, length - at + skip), skip))
            at += windows[-1][1] - skip
    return windows


def batch_of(text, windows):
    """Inputs and targets (rows, longest). Those of padding and history are −1 (nn/text/batches.h)."""
    shape = len(windows), max(length for _, length, _ in windows)
    inputs, targets = np.full(shape, text.tokens[0]), np.full(shape, -1)
    for row, (begin, length, skip) in enumerate(windows):
        inputs[row, :length] = text.tokens[begin:begin + length]
        targets[row, skip:length] = text.tokens[begin + skip + 1:begin + length + 1]
    return inputs, targets


def windows_of(text, settings, step):
    """The windows of a step (Trainer::next_batch in nn/train/trainer.cpp)."""
    batch_stream = 1
    return sample_windows(text, settings["batch"], settings["context"], step,
                          Rng(settings["seed"]).stream(batch_stream))


def rate_at(step, settings):
    """nn/optim/optimizer.h"""
    rate, least, warmup = settings["rate"], settings["final_ratio"], settings["warmup"]
    if step >= settings["steps"]:
        return rate * least
    if step < warmup:
        return rate * (step + 1) / warmup
    p = (step - warmup) / (settings["steps"] - warmup)
    return rate * (least + (1 - least) * 0.5 * (1 + math.cos(math.pi * p)))
