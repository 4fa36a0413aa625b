"""Two replicas with TensorFlow's own `MirroredStrategy`, each test in a process of its own."""

import json
import math
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from training import only_group, read

pytestmark = pytest.mark.slow

SCRIPT = pathlib.Path(__file__).parent / "mirrored.py"


def train(log_dir, keras, way):
    command = [sys.executable, str(SCRIPT), str(log_dir), keras, way]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.split("@@")[1])


@pytest.mark.parametrize("keras", ["keras", "tf_keras"])
def test_each_replica_has_rows_of_its_own_and_training_is_the_same(tmp_path, keras):
    recorded, plain = train(tmp_path, keras, "fit"), train("-", keras, "fit")
    assert recorded == plain
    group = only_group(tmp_path)
    assert group.schema.replicas == 2 and group.schema.norm_of == "replica gradient"
    assert group.windows.first_step.tolist() == list(range(8))
    norms = group.windows.norm_last.reshape(8, 2, 4)
    assert np.isfinite(norms).all()
    assert not np.allclose(norms[:, 0], norms[:, 1])


def test_the_replica_that_produced_the_nan_is_told_and_its_update_withheld(tmp_path):
    result = train(tmp_path, "keras", "skip")
    assert all(math.isfinite(v) for weights in result["weights"] for v in np.ravel(weights))
    run = read(tmp_path)
    (group,) = run.groups.values()
    bad = (group.windows.nan_steps > 0).reshape(8, 2, 4)
    assert np.argwhere(bad.any(axis=2)).tolist() == [[2, 1]]
    assert group.windows.skipped_steps.tolist() == [0, 0, 1, 0, 0, 0, 0, 0]
    (incident,) = [i for i in run.incidents if i.kind == "nan"]
    assert min(incident.rows) >= 4
