"""What cannot be recorded is refused before anything runs, with the reason and what to do."""

import pytest
import tensorflow as tf
from training import keras_of

import tb_gradhealth


class Elsewhere(tf.distribute.ParameterServerStrategy):
    """One that connects to no cluster."""

    def __init__(self):
        pass


@pytest.fixture
def parameter_servers(monkeypatch):
    monkeypatch.setattr(tf.distribute, "get_strategy", Elsewhere)


WORDS = r"cannot record under a ParameterServerStrategy: .*Received: Elsewhere. .*MultiWorkerMirroredStrategy"


def test_record_and_watch(tmp_path, parameter_servers):
    with (
        tb_gradhealth.GradHealthWriter(tmp_path, explain=False) as writer,
        pytest.raises(RuntimeError, match="GradHealthWriter.record " + WORDS),
    ):
        writer.record([tf.constant(1.0)], [1.0])
    with pytest.raises(RuntimeError, match="watch " + WORDS):
        tb_gradhealth.watch(keras_of("keras").optimizers.SGD(0.1), tmp_path, explain=False)


def test_fit(tmp_path):
    class Model:
        distribute_strategy = Elsewhere()

    recording = tb_gradhealth.GradHealthCallback(tmp_path, explain=False)
    with pytest.raises(RuntimeError, match="GradHealthCallback " + WORDS):
        recording.set_model(Model())


@pytest.mark.parametrize("policy", ["skip", "stop"])
def test_withholding_on_several_workers(tmp_path, policy):
    class Extended:
        worker_devices = ("/cpu:0",)

    class Workers:
        num_replicas_in_sync = 2
        extended = Extended()

    class Model:
        distribute_strategy = Workers()

    recording = tb_gradhealth.GradHealthCallback(tmp_path, explain=False, on_nonfinite=policy)
    with pytest.raises(
        RuntimeError, match=f'on_nonfinite="{policy}" is not possible.*Received: Workers with 2.*record'
    ):
        recording.set_model(Model())
