"""A log as the first version wrote it stays readable: the file in ``tests/format/data`` was never written anew."""

import pathlib

from tb_gradhealth.format.reader import find_runs, read_run
from tb_gradhealth.health import Thresholds, Tracker, assess

FIRST = pathlib.Path(__file__).parents[1] / "format" / "data"


def test_the_first_logs_are_read_and_judged_as_they_were():
    assert find_runs(str(FIRST)) == ["."]
    run = read_run(str(FIRST))
    assert not run.problems and run.newer_format is None
    health = assess(run)
    assert (health.verdict, health.steps, health.last_step) == ("unhealthy", 8, 7)
    states = {v.name: (v.state, v.since) for v in health.variables}
    assert states["encoder/kernel"] == ("nan", 6) and states["encoder/bias"] == ("inf", 7)
    assert states["head/bias"] == ("none", 0) and health.variables[3].expected_none
    nan = next(i for i in health.incidents if i.kind == "nan")
    assert nan.cause is not None and (nan.cause.op, nan.cause.line) == ("Sqrt", 41)
    unread = next(i for i in health.incidents if i.kind == "spiking")
    assert (unread.severity, unread.first_step, unread.variables) == ("watch", 900, ("head/kernel",))


def test_what_they_do_not_say_is_at_its_default():
    schema = read_run(str(FIRST)).groups["adam"].schema
    assert Tracker(schema).thresholds == Thresholds() and not schema.ignore
    assert all(variable.depth == 0 for variable in schema.variables)
    assert schema.HasField("global_clip_norm") and not schema.HasField("clip_norm")
