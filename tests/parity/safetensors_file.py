"""Files of safetensors as numpy arrays (nn/io/safetensors.h)."""
import json

import numpy as np

TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4"}


def read_safetensors(path):
    """The tensors of a file by name, and its metadata."""
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
