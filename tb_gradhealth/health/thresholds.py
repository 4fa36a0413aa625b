"""What the rules compare with: one small dataclass, the only knobs there are."""

import dataclasses


@dataclasses.dataclass(frozen=True, kw_only=True)
class Thresholds:
    """Limits of the rules. The defaults are for every kind of model; lengths are in steps, factors have no unit.

    Attributes:
      zero_steps: an exactly zero gradient that sets in during training is an illness after so many steps in a row.
      start_steps: exact zeros that end within so many steps of the beginning belong to a start (zero-initialised
        output layers make everything before them zero at step 0).
    """

    zero_steps: int = 10
    start_steps: int = 5

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if not value > 0:
                raise ValueError(
                    f"Thresholds.{field.name} must be greater than 0. Received: {field.name}={value!r}. "
                    "To keep an expected None quiet pass its name in `ignore=` where the run is recorded."
                )
