"""What the rules compare with: one small dataclass, the only knobs there are."""

import dataclasses
from collections.abc import Mapping
from typing import TypeAlias

from tb_gradhealth.format import gradhealth_pb2 as pb


@dataclasses.dataclass(frozen=True, kw_only=True)
class Thresholds:
    """Limits of the rules. The defaults are for every kind of model; lengths are in steps, factors have no unit.

    What the user changed is stored in the run's schema, and whoever reads the run judges by it.

    Attributes:
      zero_steps: an exactly zero gradient that sets in during training is an illness after so many steps in a row.
      start_steps: exact zeros that end within so many steps of the beginning belong to a start (zero-initialised
        output layers make everything before them zero at step 0).
      vanishing_decades: the first layers are starved where their norms lie so many decades below the group's largest.
      fading_decades: a layer has faded when its norm fell by so many decades more than the other layers' did.
      saturation_decades: the whole gradient is gone when it fell by so many decades while loss was left.
      flat_decades: or when, from the start, its norm lies so many decades below the loss.
      growth_decades: an explosion is a growth by so many decades while the loss gets worse.
      huge_ratio: an explosion at once is a gradient of so many times the weights' norm.
      spike_factor: a spike is at least so many times the recent median norm.
      swing_decades: an oscillation is a swing of the norm by so many decades from step to step.
      update_ratio_high, update_ratio_low: updates of at least, or at most, so much of the weights' norm are ill.
      clip_excess: clipping at nearly every step is worth watching where the norm is so many times the limit.
    """

    zero_steps: int = 10
    start_steps: int = 5
    vanishing_decades: float = 3.0
    fading_decades: float = 4.0
    saturation_decades: float = 3.0
    flat_decades: float = 6.0
    growth_decades: float = 2.0
    huge_ratio: float = 3e4
    spike_factor: float = 10.0
    swing_decades: float = 0.5
    update_ratio_high: float = 0.5
    update_ratio_low: float = 1e-8
    clip_excess: float = 100.0

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if not value > 0:
                raise ValueError(
                    f"Thresholds.{field.name} must be greater than 0. Received: {field.name}={value!r}. "
                    "To keep an expected None quiet pass its name in `ignore=` where the run is recorded."
                )

    def changed(self) -> dict[str, float]:
        """Those that are not at their defaults, by name: what is stored as ``Schema.thresholds``."""
        pairs = ((field.name, field.default, getattr(self, field.name)) for field in dataclasses.fields(self))
        return {name: float(value) for name, default, value in pairs if value != default}

    def but(self, others: Mapping[str, float]) -> "Thresholds":
        """These with some others in their place.

        Raises:
          ValueError: there is none of that name, or a value is not greater than 0.
        """
        kinds = {field.name: type(getattr(self, field.name)) for field in dataclasses.fields(self)}
        unknown = [name for name in others if name not in kinds]
        if unknown:
            raise ValueError(f"There is no threshold {unknown[0]!r}. There are: {', '.join(kinds)}.")
        return dataclasses.replace(self, **{name: kinds[name](value) for name, value in others.items()})

    @classmethod
    def of(cls, schema: pb.Schema, given: "GivenThresholds" = None) -> "Thresholds":
        """Those by which a group is to be judged.

        Args:
          schema: of the group. A stored limit that this version does not know, or that makes no sense, is left out.
          given: by whoever asks: all of them, or some by name in place of the stored ones.
        """
        if isinstance(given, Thresholds):
            return given
        names = {field.name for field in dataclasses.fields(cls)}
        own = cls().but({name: value for name, value in schema.thresholds.items() if name in names and value > 0})
        return own.but(given or {})


GivenThresholds: TypeAlias = Thresholds | Mapping[str, float] | None
"""All limits, some by name, or None: those that the run was recorded with."""
