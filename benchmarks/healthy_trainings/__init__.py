"""Healthy trainings of the kinds people have; importing this fills `TRAININGS`."""

from healthy_trainings import fits, loops
from healthy_trainings.common import TRAININGS

__all__ = ["TRAININGS", "fits", "loops"]
