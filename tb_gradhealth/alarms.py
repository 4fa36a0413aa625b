"""Ready-made alarms for `on_incident`, to be used alone, in a list, or beside a function of your own.

```python
alarms = tb_gradhealth.alarms
callback = tb_gradhealth.GradHealthCallback(
    "logs/run1",
    on_incident=[alarms.LogLine(), alarms.SaveWeights("rescued"), alarms.StopTraining(kinds=["nan", "inf"])],
)
```

Each is called once for every new incident, within a second or ten steps of the event.
"""

from tb_gradhealth.record.alarms import Alarm, LogLine, SaveWeights, StopTraining, Training, Webhook, restore

__all__ = ["Alarm", "LogLine", "SaveWeights", "StopTraining", "Training", "Webhook", "restore"]
