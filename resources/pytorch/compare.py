"""Trains the lane in Mantissa and in PyTorch, and says where the two part. Standard library only.

Exit code 0: they agree within the bounds in every step; 1: they do not; 2: one of them could not be run.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Of loss and gradient norm, relative. What is 16-bit parts sooner: each sum is rounded in another order.
BOUNDS = {"fp32": 1e-3, "fp16": 0.05, "bf16": 0.2}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", default=os.environ.get("MANTISSA_CLI", "mantissa-cli"), help="the program")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="PyTorch's")
    parser.add_argument("--steps", type=int, help="only the first so many")
    parser.add_argument("--bound", type=float, help=f"largest relative difference; by format {BOUNDS} if not given")
    return parser.parse_args()


def run(command):
    print("+", " ".join(map(str, command)), flush=True)
    code = subprocess.run(list(map(str, command)), cwd=HERE, stdout=subprocess.DEVNULL, check=False).returncode
    if code != 0:
        sys.exit(fail(f"{command[0]} ended with code {code}"))


def fail(text):
    print("compare.py:", text, file=sys.stderr)
    return 2


def records(path):
    with open(HERE / path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def difference(a, b):
    """Relative; 0 for two that are infinite or not a number alike."""
    a, b = float(a), float(b)
    if a == b or (a != a and b != b):
        return 0.0
    gap = abs(a - b) / max(abs(a), abs(b))
    return gap if gap == gap else float("inf")


def main():
    arguments = parse_arguments()
    found = shutil.which(arguments.cli)
    if found is None:
        return fail(f"there is no program {arguments.cli}; --cli names Mantissa's")
    cli = os.path.abspath(found)
    policy = json.loads((HERE / "experiment.json").read_text(encoding="utf-8")).get("precision", {}).get("policy", "fp32")
    steps = ["--steps", arguments.steps] if arguments.steps else []
    # PyTorch's autocast has lists of its own on CPUs.
    lists = ["--set", f"precision.policy=cpu-{policy}"] if arguments.device == "cpu" and policy in ("fp16", "bf16") else []
    run([cli, "run", "experiment.json", "--no-db", "--json", "--metrics", "mantissa.jsonl", *steps, *lists])
    run([sys.executable, "train.py", "--device", arguments.device, "--metrics", "pytorch.jsonl", *steps])
    ours, theirs = records("mantissa.jsonl"), records("pytorch.jsonl")
    bound = arguments.bound or BOUNDS["fp16" if "fp16" in policy else "bf16" if "bf16" in policy else "fp32"]

    parted, widest = None, {"loss": 0.0, "grad_norm": 0.0}
    for a, b in zip(ours, theirs):
        gaps = {key: difference(a[key], b[key]) for key in widest}
        wrong = [f"{key} {a[key]} and {b[key]} ({gap:.2g})" for key, gap in gaps.items() if gap > bound]
        wrong += [f"{key} {a[key]} and {b[key]}" for key in ("scale", "skipped") if float(a[key]) != float(b[key])]
        if wrong:
            parted = f"step {a['step']}: {'; '.join(wrong)} in Mantissa and PyTorch"
            break
        widest = {key: max(widest[key], gap) for key, gap in gaps.items()}
    count = min(len(ours), len(theirs)) if parted is None else a["step"]
    print(f"{count} steps agree within {bound:g}: loss to {widest['loss']:.2g}, "
          f"gradient norm to {widest['grad_norm']:.2g}, scales and skipped steps are the same")
    if parted is None and len(ours) < len(theirs) and theirs[-1]["loss"] in ("nan", "inf"):
        print("there Mantissa ends, as the weights are no longer finite; PyTorch goes on with a loss of", theirs[-1]["loss"])
    elif parted is None and len(ours) != len(theirs):
        parted = f"the end: Mantissa made {len(ours)} steps, PyTorch {len(theirs)}"
    if parted is not None:
        print("they part at", parted)
        print("Rounding alone does that in the end: it differs in the last place, and training amplifies it step by step.")
    return 0 if parted is None else 1


if __name__ == "__main__":
    sys.exit(main())
