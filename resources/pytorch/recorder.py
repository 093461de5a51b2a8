"""Writes what a PyTorch training loop does in Mantissa's format: one JSON object per step. Standard library only.

    recorder = Recorder("metrics.jsonl", model, optimizer, scaler)    # before the loop
    ...
        scaler.unscale_(optimizer)
        recorder.gradients()    # the gradients are there, unscaled and not yet clipped
        scaler.step(optimizer)
        scaler.update()
        recorder.step(loss)     # at the end of the step

`scaler` is a GradScaler, a number (a scale of your own) or left out. Figures of gradients are true ones. "zero" is the
share of gradient elements that are 0, for whatever reason. "flushed" estimates those that a rounding made so: of
matrices, the zeros in whose row and column others are not zero.
"""
import json
import math
import time


class Recorder:
    def __init__(self, path, model, optimizer, scaler=None, lane="PyTorch"):
        self.file = open(path, "w", encoding="utf-8")
        self.model, self.optimizer, self.scaler, self.lane = model, optimizer, scaler, lane
        self.count = 0
        self.begun = time.perf_counter()
        self._clear()
        optimizer.register_step_pre_hook(self._note_step)

    def _clear(self):
        self.record = {}
        self.steps_taken = 0

    def _rate(self):
        return float(self.optimizer.param_groups[0]["lr"])

    def _note_step(self, *_):
        self.steps_taken += 1  # a scaler that skips a step does not call the optimizer
        self.record["lr"] = self._rate()

    def _scale(self):
        return float(self.scaler.get_scale() if hasattr(self.scaler, "get_scale") else self.scaler or 1)

    def gradients(self, scaled=False):
        """Looks at the gradients. scaled: they still carry the scale."""
        scale = self._scale()
        layers, largest = {}, 0.0
        for name, parameter in self.model.named_parameters():
            if parameter.grad is None:
                continue
            gradient = parameter.grad.detach().double() / (scale if scaled else 1)
            largest = max(largest, float(gradient.abs().max()))
            sums = layers.setdefault(name.rpartition(".")[0] or name, _Sums())
            sums.add(_Sums(float(gradient.square().sum()), int((gradient == 0).sum()), _flushed(gradient), gradient.numel()))
        total = _Sums()
        for sums in layers.values():
            total.add(sums)
        figures = total.figures()
        is_finite = math.isfinite(figures["grad_norm"])
        self.record.update(figures, grad_max=largest if is_finite else figures["grad_norm"], scale=scale,
                           found_inf=not is_finite,
                           layers={name: sums.figures() for name, sums in layers.items()})
        self.record.setdefault("lr", self._rate())

    def step(self, loss, calls=1):
        """Ends the step. loss: as it was before it was scaled; of several micro-batches a list. calls: how often a step
        that is not skipped calls the optimizer."""
        losses = [float(getattr(x, "data", x)) for x in (loss if isinstance(loss, (list, tuple)) else [loss])]
        mean = sum(losses) / len(losses) if losses else math.nan
        state = self.scaler.state_dict() if hasattr(self.scaler, "state_dict") else {}
        now = time.perf_counter()
        line = {"lane": self.lane, "step": self.count, "loss": mean, "loss_finite": math.isfinite(mean), **self.record,
                "growth_tracker": state.get("_growth_tracker", 0), "skipped": self.steps_taken < calls,
                "time_ms": {"wall": (now - self.begun) * 1000}}
        self.file.write(json.dumps(_exact(line)) + "\n")
        self.file.flush()
        self.count += 1
        self._clear()

    def close(self):
        self.file.close()


class _Sums:
    def __init__(self, squares=0.0, zeros=0, flushed=0, count=0):
        self.squares, self.zeros, self.flushed, self.count = squares, zeros, flushed, count

    def add(self, other):
        self.squares += other.squares
        self.zeros += other.zeros
        self.flushed += other.flushed
        self.count += other.count

    def figures(self):
        count = max(self.count, 1)
        return {"grad_norm": math.sqrt(self.squares), "zero": self.zeros / count, "flushed": self.flushed / count}


def _flushed(gradient):
    if gradient.dim() < 2:
        return 0
    zero = (gradient == 0).flatten(1)
    alive = (~zero).any(1, keepdim=True) & (~zero).any(0, keepdim=True)
    return int((zero & alive).sum())


def _exact(value):
    """JSON has no infinity and no NaN: these become texts."""
    if isinstance(value, dict):
        return {key: _exact(inner) for key, inner in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value
