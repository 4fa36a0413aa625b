"""The cases of `tests/cases` through the product: the state of every variable, and no false alarm once mended."""

import subprocess
import sys

import case_runs
import pytest

from tb_gradhealth.health import assess

ALONE = {"049_empty_replica"}
"""Cases that need a process of their own: they set up logical devices."""

# What TensorFlow and Keras themselves warn of in the faulty programs.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]


@pytest.mark.parametrize("name", case_runs.names())
def test_states_are_as_they_are(tmp_path, name):
    if name in ALONE and __name__ != "__main__":
        return in_a_process(name)
    module = case_runs.load(name)
    ran = case_runs.run(module, str(tmp_path / "recorded"))
    if module.KIND == "error":
        plain = case_runs.run(case_runs.load(name), str(tmp_path / "plain"), plain=True)
        assert case_runs.normalised(ran.error) == case_runs.normalised(plain.error)
        assert module.EXPECT_ERROR in ran.error
        return None
    assert ran.run.problems == ()
    found = ran.states()
    assert found and found == case_runs.expected_of(module.EXPECT, list(found))
    if hasattr(module, "EXPECT_FIRST"):
        first = ran.states(0)
        assert first == case_runs.expected_of(module.EXPECT_FIRST, list(first))
    assert (ran.error is None) == (not hasattr(module, "EXPECT_ERROR"))
    assert ran.error is None or module.EXPECT_ERROR in ran.error
    return None


@pytest.mark.parametrize("name", case_runs.names())
def test_the_mended_version_is_not_called_unhealthy(tmp_path, name):
    if name in ALONE and __name__ != "__main__":
        return in_a_process(name, fixed=True)
    ran = case_runs.run(case_runs.load(name, fixed=True), str(tmp_path))
    assert ran.error is None
    health = assess(ran.run)
    assert health.steps > 0
    assert health.verdict in ("healthy", "watch"), health.sentence
    assert set(ran.states().values()) <= {"ok", "zero"}
    return None


def in_a_process(name, fixed=False):
    """Runs one test of this file in a fresh interpreter."""
    command = [sys.executable, __file__, name, "fixed" if fixed else "faulty"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]


if __name__ == "__main__":
    import pathlib
    import tempfile

    run = test_the_mended_version_is_not_called_unhealthy if sys.argv[2] == "fixed" else test_states_are_as_they_are
    with tempfile.TemporaryDirectory() as directory:
        run(pathlib.Path(directory), sys.argv[1])
