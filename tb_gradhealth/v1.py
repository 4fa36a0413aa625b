"""For TensorFlow 1 graphs and sessions: ``tb_gradhealth.v1.GradHealthHook``."""

from tb_gradhealth.record.v1_hook import GradHealthHook

__all__ = ["GradHealthHook"]
