"""The learning rate stored with a step is the one its update was made with."""

import numpy as np
import pytest
from training import fit, keras_of, mlp, only_group

import tb_gradhealth


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("name", ["keras", "tf_keras"])
def test_a_schedule_is_recorded_step_by_step(tmp_path, name, jit):
    keras = keras_of(name)
    schedule = keras.optimizers.schedules.ExponentialDecay(0.01, 4, 0.5)
    model = mlp(keras, keras.optimizers.SGD(schedule), jit_compile=jit)
    fit(model, [tb_gradhealth.GradHealthCallback(tmp_path, explain=False)], epochs=1)
    windows = only_group(tmp_path).windows
    np.testing.assert_allclose(windows.learning_rate, 0.01 * 0.5 ** (windows.first_step / 4), rtol=1e-5)
