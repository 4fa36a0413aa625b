"""Small trainings, healthy and ill, that the verdicts are scored on.

Each is a function that trains a model and records it; what is wrong with an ill one, and which kinds of incident are a
right answer, was written down before any rule was tuned.
"""

from verdict_trainings import (
    fresh_healthy,
    fresh_ill,
    healthy_conv,
    healthy_dense,
    healthy_generative,
    healthy_other,
    healthy_sequence,
    ill_dead,
    ill_exploding,
    ill_late,
    ill_nonfinite,
    ill_vanishing,
)
from verdict_trainings.registry import TRAININGS, Training

__all__ = [
    "TRAININGS",
    "Training",
    "fresh_healthy",
    "fresh_ill",
    "healthy_conv",
    "healthy_dense",
    "healthy_generative",
    "healthy_other",
    "healthy_sequence",
    "ill_dead",
    "ill_exploding",
    "ill_late",
    "ill_nonfinite",
    "ill_vanishing",
]
