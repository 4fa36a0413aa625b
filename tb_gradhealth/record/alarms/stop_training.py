"""An alarm that ends the training."""

import sys
from collections.abc import Collection

from tb_gradhealth.health import Incident
from tb_gradhealth.record.alarms.alarm import Alarm, Training
from tb_gradhealth.record.alarms.log_line import line_of


class StopTraining(Alarm):
    """Ends the training at the first incident that is bad.

    ```python
    model.fit(x, y, callbacks=[GradHealthCallback("logs/run1", on_incident=tb_gradhealth.alarms.StopTraining())])
    ```

    `fit` and a TensorFlow 1 `MonitoredSession` end after the step at which the incident was found. In a loop of your
    own ask for it:

    ```python
    stop = tb_gradhealth.alarms.StopTraining()
    with tb_gradhealth.GradHealthWriter("logs/run1", on_incident=stop) as writer:
        for batch in batches:
            ...
            if stop.incident:
                break
    ```

    An incident is found within a second or ten steps of the event, whichever is longer. The updates until then have
    been applied: to end with the weights of the last good step pass ``on_nonfinite="stop"`` as well.

    Args:
      kinds, severity: see `Alarm`.

    Attributes:
      incident: the one that ended the training, or None.
    """

    def __init__(self, *, kinds: Collection[str] | None = None, severity: str = "bad") -> None:
        super().__init__(kinds, severity)
        self.incident: Incident | None = None
        self._training: Training | None = None

    def begin(self, training: Training) -> None:
        self._training = training

    def raised(self, incident: Incident) -> None:
        if self.incident is None:
            self.incident = incident
            print(f"tb_gradhealth: training is stopped. {line_of(incident)}", file=sys.stderr, flush=True)
        if self._training is not None:
            self._training.stop()

    def __deepcopy__(self, memo: object) -> "StopTraining":
        return StopTraining(kinds=self._kinds, severity=self._severity)
