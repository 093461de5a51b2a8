"""Two steps of a loop through recorder.py (its folder is the argument), with what it calls of a model, an optimizer and a
scaler, so that tests need no PyTorch."""
import math
import sys

sys.path.insert(0, sys.argv[1])
from recorder import Recorder  # noqa: E402


class Tensor(list):
    def detach(self): return self
    def double(self): return self
    def square(self): return Tensor(x * x for x in self)
    def sum(self): return math.fsum(self) if all(map(math.isfinite, self)) else sum(self)
    def abs(self): return Tensor(map(abs, self))
    def max(self): return max(list(self))
    def numel(self): return len(self)
    def dim(self): return 1
    def all(self): return all(list(self))
    def __eq__(self, x): return Tensor(y == x for y in self)
    def __truediv__(self, x): return Tensor(y / x for y in self)

class Weight:
    def __init__(self, *gradient): self.grad = Tensor(gradient)

class Model:
    def __init__(self): self.weights = {"fc1.weight": Weight(3.0, 0.0), "fc1.bias": Weight(4.0), "fc2.weight": Weight(0.0, 0.0)}
    def named_parameters(self): return self.weights.items()

class Optimizer:
    param_groups = [{"lr": 0.5}]
    def register_step_pre_hook(self, hook): self.hook = hook
    def step(self): self.hook(self, (), {})

class Scaler:
    scale = 8.0
    def get_scale(self): return self.scale
    def state_dict(self): return {"_growth_tracker": 7}

model, optimizer, scaler = Model(), Optimizer(), Scaler()
recorder = Recorder("log.jsonl", model, optimizer, scaler)
recorder.gradients(); optimizer.step(); recorder.step(2.0)
model.weights["fc1.bias"] = Weight(math.inf)
recorder.gradients(); scaler.scale = 4.0; recorder.step([1.0, math.nan])
recorder.close()
