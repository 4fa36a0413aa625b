"""Published rules of others, on the same records: what each would have said, and when first.

All of them were written for gradients themselves; a record holds norms, so a mean |g| is taken as ``norm * sqrt(2 /
(pi size))``, which it is for normally distributed elements and never exceeds by more than a quarter. Each is used with
the defaults that its authors give.
"""

import collections
import dataclasses
from collections.abc import Callable

import numpy as np

from tb_gradhealth.format.log import GroupLog


@dataclasses.dataclass(frozen=True)
class Alarm:
    step: int
    kind: str


def sagemaker(group: GroupLog) -> list[Alarm]:
    """Debugger's VanishingGradient (a mean |g| below 1e-7) and ExplodingTensor (any NaN or Inf)."""
    w = group.windows
    mean = _mean_abs(group)
    found = _first(w.last_step, np.isfinite(mean) & (mean < 1e-7), "vanishing")
    return found + _first(w.last_step, (w.nan_steps + w.inf_steps) > 0, "exploding")


def autotrainer(group: GroupLog, every: int = 50) -> list[Alarm]:
    """The ratio of the first kernel's norm to the last's: below 1e-3 with a norm below 1e-4, or above 70; 70 % zeros.

    Looked at once in an epoch (here: 50 steps). The authors ask first whether the training goes badly, by its accuracy;
    here: the loss has not fallen by a tenth.
    """
    w, kernels = group.windows, _kernels(group)
    found = _first(w.last_step, (w.nan_steps + w.inf_steps) > 0, "exploding")
    if len(kernels) < 2:
        return found
    sizes = np.array([v.size for v in group.schema.variables], float)
    for index in range(every - 1, len(w), every):
        first, last = w.norm_last[index, kernels[0]], w.norm_last[index, kernels[-1]]
        if not w.loss[index] >= 0.9 * w.loss[0]:
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = first / last
        step = int(w.last_step[index])
        if ratio < 1e-3 and first < 1e-4:
            found.append(Alarm(step, "vanishing"))
        if ratio > 70:
            found.append(Alarm(step, "exploding"))
        if (sizes[w.zero_steps[index] > 0]).sum() >= 0.7 * sizes.sum():
            found.append(Alarm(step, "zero"))
    return found


def the_deep_checker(group: GroupLog) -> list[Alarm]:
    """A kernel's mean |g| below 1e-6 or above 1e6, or halved or doubled five times running; log10 of the update ratio
    outside -4..-1. From step 10 on, at every tenth."""
    w, kernels = group.windows, _kernels(group)
    found = _first(w.last_step, (w.nan_steps + w.inf_steps)[:, kernels] > 0, "nan")
    mean = _mean_abs(group)[:, kernels]
    for index in range(10, len(w), 10):
        step = int(w.last_step[index])
        with np.errstate(divide="ignore", invalid="ignore"):
            rates = mean[index - 3 : index + 1] / mean[index - 4 : index]
        if (mean[index] < 1e-6).any() or (rates <= 0.5).all(axis=0).any():
            found.append(Alarm(step, "vanishing"))
        if (mean[index] > 1e6).any() or (rates >= 2).all(axis=0).any():
            found.append(Alarm(step, "exploding"))
    for index in np.flatnonzero(w.detail_step >= 10):
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.log10(w.update_ratio[index, kernels])
        ratio = ratio[np.isfinite(ratio)]
        if (ratio > -1).any():
            found.append(Alarm(int(w.last_step[index]), "exploding"))
        if (ratio < -4).any():
            found.append(Alarm(int(w.last_step[index]), "vanishing"))
    return found


def zclip(group: GroupLog) -> list[Alarm]:
    """A z-score above 2.5 against exponential averages (0.97) of the whole norm, after 25 steps."""
    totals = _totals(group)
    mean = variance = None
    warm: list[float] = []
    found = []
    for step, total in zip(group.windows.last_step, totals, strict=True):
        if not np.isfinite(total):
            found.append(Alarm(int(step), "nan"))
            continue
        if mean is None or variance is None:
            warm.append(total)
            if len(warm) == 25:
                mean, variance = float(np.mean(warm)), float(np.var(warm))
            continue
        if total - mean > 2.5 * np.sqrt(variance):
            found.append(Alarm(int(step), "spiking"))
        mean, variance = 0.97 * mean + 0.03 * total, 0.97 * variance + 0.03 * (total - mean) ** 2
    return found


def olmo(group: GroupLog) -> list[Alarm]:
    """Loss or norm six deviations above the mean of the last 128 steps (at least 64), or not finite."""
    past: collections.deque[tuple[float, float]] = collections.deque(maxlen=128)
    found = []
    for step, total, loss in zip(group.windows.last_step, _totals(group), group.windows.loss, strict=True):
        if len(past) >= 64:
            norms, losses = np.array(past).T
            norms, losses = norms[np.isfinite(norms)], losses[np.isfinite(losses)]
            if not np.isfinite(total):
                found.append(Alarm(int(step), "nan"))
            elif total - norms.mean() > 6 * norms.std(ddof=1) or loss - losses.mean() > 6 * losses.std(ddof=1):
                found.append(Alarm(int(step), "spiking"))
        past.append((total, loss))
    return found


BASELINES: dict[str, Callable[[GroupLog], list[Alarm]]] = {
    "SageMaker Debugger": sagemaker,
    "AUTOTRAINER": autotrainer,
    "TheDeepChecker": the_deep_checker,
    "ZClip, z > 2.5": zclip,
    "OLMo-core, 6 sigma": olmo,
}

ALIKE = {
    "exploding": {"exploding", "nan", "inf", "overflow"},
    "nan": {"nan", "inf", "overflow", "exploding"},
    "spiking": {"spiking", "exploding", "nan", "inf", "oscillating"},
    "vanishing": {"vanishing", "zero"},
    "zero": {"zero", "vanishing"},
}
"""What a word of theirs counts as: generously, since they have fewer words."""


def _kernels(group: GroupLog) -> list[int]:
    return [i for i, v in enumerate(group.schema.variables) if len(v.shape) >= 2 and v.role == v.TRAINED]


def _mean_abs(group: GroupLog) -> np.ndarray:
    sizes = np.array([max(v.size, 1) for v in group.schema.variables], float)
    return group.windows.norm_last * np.sqrt(2 / (np.pi * sizes))


def _totals(group: GroupLog) -> np.ndarray:
    w = group.windows
    bad = ((w.nan_steps + w.inf_steps) > 0).any(axis=1)
    totals = np.sqrt(np.nansum(np.square(w.norm_last.astype(float)), axis=1))
    return np.where(bad, np.nan, totals)


def _first(steps: np.ndarray, ill: np.ndarray, kind: str) -> list[Alarm]:
    hits = np.flatnonzero(ill.any(axis=1))
    return [Alarm(int(steps[hits[0]]), kind)] if hits.size else []
