"""Ready-made alarms: what `on_incident` may be given besides a function of the user's own."""

from tb_gradhealth.record.alarms.alarm import Alarm, Training
from tb_gradhealth.record.alarms.log_line import LogLine
from tb_gradhealth.record.alarms.save_weights import SaveWeights, restore
from tb_gradhealth.record.alarms.stop_training import StopTraining
from tb_gradhealth.record.alarms.webhook import Webhook

__all__ = ["Alarm", "LogLine", "SaveWeights", "StopTraining", "Training", "Webhook", "restore"]
