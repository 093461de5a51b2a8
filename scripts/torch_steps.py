#!/usr/bin/env python3
"""Steps per second of an exported lane's model in PyTorch, for scripts/cuda-check: forward, loss, backward, AdamW, with
autocast and GradScaler as the policy wants them, the loop alone, without records. Prints JSON.

Usage: torch_steps.py FOLDER POLICY [--steps N] [--compile] [--device cuda]
FOLDER is what mantissa-cli export-pytorch wrote; POLICY is fp32, fp16 or bf16."""
import argparse
import json
import sys
import time

import torch
import torch.nn.functional as F

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("folder")
parser.add_argument("policy", choices=["fp32", "fp16", "bf16"])
parser.add_argument("--steps", type=int, default=200)
parser.add_argument("--warmup", type=int, default=20)
parser.add_argument("--compile", action="store_true")
parser.add_argument("--device", default="cuda")
options = parser.parse_args()

sys.path.insert(0, options.folder)
from model import Model  # noqa: E402
from tensors import load  # noqa: E402

device = options.device
torch.backends.cuda.matmul.allow_tf32 = False  # as Mantissa's default
torch.backends.cudnn.allow_tf32 = False
stored = {name: tensor.to(device) for name, tensor in load(f"{options.folder}/data.safetensors").items()}
model = Model().to(device)
model.load_state_dict(load(f"{options.folder}/weights.safetensors"))
run = torch.compile(model, mode="reduce-overhead") if options.compile else model
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler(device, enabled=options.policy == "fp16")
half = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(options.policy)


def step(i):
    rows = stored["order"][i % len(stored["order"])].long()
    with torch.autocast(device, dtype=half, enabled=half is not None):
        out = run(stored["inputs"][rows])
        loss = F.cross_entropy(out.flatten(0, -2), stored["targets"][rows].flatten().long())
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()


def wait():
    if device == "cuda":
        torch.cuda.synchronize()


for i in range(options.warmup):
    step(i)
wait()
start = time.perf_counter()
for i in range(options.steps):
    step(i)
wait()
rate = options.steps / (time.perf_counter() - start)
print(json.dumps({"policy": options.policy, "compiled": options.compile, "steps_per_second": rate,
                  "torch": torch.__version__}))
