"""Reads and writes .safetensors files (github.com/huggingface/safetensors, README, "Format") without that package."""
import ctypes
import json
import struct

import torch

TYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
         "I64": torch.int64, "I32": torch.int32, "U8": torch.uint8, "BOOL": torch.bool}


def load(path):
    """The tensors by their names."""
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = bytearray(file.read())
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        flat = torch.frombuffer(data[begin:end], dtype=TYPES[entry["dtype"]]) if end > begin else torch.empty(0)
        tensors[name] = flat.reshape(entry["shape"])
    return tensors


def save(path, tensors):
    """Writes tensors by their names: a state_dict, for instance."""
    names = {dtype: name for name, dtype in TYPES.items()}
    header, parts, offset = {}, [], 0
    for name, tensor in tensors.items():
        tensor = tensor.detach().cpu().contiguous()
        parts.append(ctypes.string_at(tensor.data_ptr(), tensor.nbytes))
        header[name] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [offset, offset + tensor.nbytes]}
        offset += tensor.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(parts))
