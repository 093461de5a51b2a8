"""Writes what a PyTorch training loop does in Mantissa's format: one JSON object per step. Standard library only.

    recorder = Recorder("metrics.jsonl", model, optimizer, scaler)    # before the loop
    ...
        scaler.unscale_(optimizer)
        recorder.gradients()    # the gradients are there, unscaled and not yet clipped
        scaler.step(optimizer)
        scaler.update()
        recorder.step(loss)     # at the end of the step

`scaler` is a GradScaler, a number (a scale of your own) or left out. Figures of gradients are true ones. "flushed" is an
estimate of the share of gradient elements that were rounded to zero: those that are zero although others in their row
and column are not, and all of a gradient that is zero altogether.
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
        layers, elements, zeros, squares, largest = {}, 0, 0, 0.0, 0.0
        for name, parameter in self.model.named_parameters():
            if parameter.grad is None:
                continue
            gradient = parameter.grad.detach().double() / (scale if scaled else 1)
            layer = layers.setdefault(name.rpartition(".")[0] or name, [0.0, 0, 0])
            flushed = _flushed(gradient)
            square = float(gradient.square().sum())
            for i, value in enumerate((square, flushed, gradient.numel())):
                layer[i] += value
            squares, zeros, elements = squares + square, zeros + flushed, elements + gradient.numel()
            largest = max(largest, float(gradient.abs().max()))
        norm = math.sqrt(squares)
        self.record.update(
            grad_norm=norm, grad_max=largest if math.isfinite(norm) else norm, scale=scale,
            found_inf=not math.isfinite(norm), flushed=zeros / max(elements, 1), lr=self._rate(),
            layers={name: {"grad_norm": math.sqrt(square), "flushed": flushed / max(count, 1)}
                    for name, (square, flushed, count) in layers.items()})

    def step(self, loss):
        """Ends the step. loss: as it was before it was scaled; of several micro-batches a list."""
        losses = [float(getattr(x, "data", x)) for x in (loss if isinstance(loss, (list, tuple)) else [loss])]
        mean = sum(losses) / len(losses) if losses else math.nan
        state = self.scaler.state_dict() if hasattr(self.scaler, "state_dict") else {}
        now = time.perf_counter()
        line = {"lane": self.lane, "step": self.count, "loss": mean, "loss_finite": math.isfinite(mean), **self.record,
                "growth_tracker": state.get("_growth_tracker", 0), "skipped": self.steps_taken == 0,
                "time_ms": {"wall": (now - self.begun) * 1000}}
        self.file.write(json.dumps(_exact(line)) + "\n")
        self.file.flush()
        self.count += 1
        self._clear()

    def close(self):
        self.file.close()


def _flushed(gradient):
    zero = gradient == 0
    if bool(zero.all()):
        return gradient.numel()
    if gradient.dim() < 2:
        return 0
    zero = zero.flatten(1)
    alive = (~zero).any(1, keepdim=True) & (~zero).any(0, keepdim=True)
    return int((zero & alive).sum())


def _exact(value):
    """JSON has no infinity and no NaN: these become texts."""
    if isinstance(value, dict):
        return {key: _exact(inner) for key, inner in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value
