"""`GradHealthWriter.record`: eager, in a graph and under XLA; and what it says to bad input."""

import time

import numpy as np
import pytest
import tensorflow as tf
from training import names_of, only_group, read

from tb_gradhealth import GradHealthWriter
from tb_gradhealth.format.states import State

MODES = ["eager", "graph", "xla"]


def step_function(mode, step):
    return step if mode == "eager" else tf.function(step, jit_compile=mode == "xla", autograph=False)


@pytest.mark.parametrize("mode", MODES)
def test_each_way_records_the_same(tmp_path, mode):
    variables = [tf.Variable(tf.ones([2, 3]), name="a"), tf.Variable(1.0, name="b"), tf.Variable([1.0], name="c")]
    with GradHealthWriter(tmp_path, explain=False) as writer:

        def step(number, factor):
            writer.record([factor * variables[0], factor, None], variables, step=number, loss=2 * factor)

        run = step_function(mode, step)
        for number in range(12):
            run(tf.constant(number), tf.constant(float("nan") if number == 5 else float(number)))
            time.sleep(0.01)  # the poller has its time: these steps are nothing but recording
    group = only_group(tmp_path)
    windows = group.windows
    assert names_of(group) == ["a", "b", "c"]
    assert windows.first_step[0] == 0 and windows.last_step[-1] == 11 and windows.steps.sum() == 12
    assert windows.nan_steps.sum(axis=0).tolist() == [1, 1, 0]
    assert windows.first_bad_step.max(axis=0).tolist() == [5, 5, -1]
    assert windows.none_steps.sum(axis=0).tolist() == [0, 0, 12]
    assert windows.zero_steps.sum(axis=0).tolist() == [1, 1, 0]
    np.testing.assert_allclose(np.nanmax(windows.norm_max[:, :2], axis=0), [11 * np.sqrt(6), 11], rtol=1e-6)
    assert np.nanmax(windows.loss_max) == 22.0
    assert windows.loss_nonfinite_steps.sum() == 1


@pytest.mark.parametrize("jit", [False, True])
def test_a_loop_on_the_device_longer_than_the_ring_loses_no_event(tmp_path, jit):
    variable = tf.Variable([1.0, 2.0])
    with GradHealthWriter(tmp_path, explain=False) as writer:

        @tf.function(jit_compile=jit, autograph=False)
        def run():
            def body(number):
                scale = tf.where(tf.equal(number, 333), float("inf"), tf.where(tf.equal(number, 444), 1e6, 1.0))
                writer.record([scale * variable], [variable], step=number)
                return (number + 1,)

            return tf.while_loop(lambda number: number < 1000, body, (tf.constant(0),))

        run()
    windows = only_group(tmp_path).windows
    assert windows.steps.sum() == 1000
    assert windows.inf_steps.sum() == 1 and windows.first_bad_step.max() == 333
    peak = np.nanargmax(windows.norm_max[:, 0])
    assert windows.norm_max_step[peak, 0] == 444
    assert windows.last_step[-1] == 999


def test_the_none_mask_of_each_trace_is_recorded_at_its_steps(tmp_path):
    variables = [tf.Variable(tf.ones([3]), name="a"), tf.Variable(tf.ones([3]), name="b")]
    with GradHealthWriter(tmp_path, every=1, explain=False) as writer:

        @tf.function(autograph=False)
        def step(number, with_b):
            writer.record([variables[0] * 1.0, variables[1] * 1.0 if with_b else None], variables, step=number)

        for number, with_b in enumerate([True, False, False, True, False]):
            step(tf.constant(number), with_b)
    group = only_group(tmp_path)
    none = np.concatenate([[w] for w in group.windows.none_steps[:, 1]])
    assert group.windows.steps.sum() == 5 and none.sum() == 3
    assert group.windows.none_steps[:, 0].sum() == 0


def test_eager_recording_does_not_trace_again_for_other_batches_of_indices(tmp_path):
    table = tf.Variable(tf.ones([50, 4]))
    with GradHealthWriter(tmp_path, explain=False) as writer:
        for count in range(1, 30):
            slices = tf.IndexedSlices(tf.ones([count, 4]), tf.zeros([count], tf.int64), tf.constant([50, 4], tf.int64))
            writer.record([slices], [table])
    np.testing.assert_allclose(only_group(tmp_path).windows.norm_last[:, 0], 2.0 * np.arange(1, 30), rtol=1e-5)


def test_two_groups(tmp_path):
    a, b = tf.Variable(1.0, name="a"), tf.Variable(1.0, name="b")
    with GradHealthWriter(tmp_path, explain=False) as writer:
        for _ in range(3):
            writer.record([tf.constant(1.0)], [a], group="maker/1")
            writer.record([tf.constant(2.0)], [b], group="judge")
    groups = read(tmp_path).groups
    assert sorted(groups) == ["judge", "maker/1"]
    assert all(group.windows.first_step.tolist() == [0, 1, 2] for group in groups.values())


def test_variables_that_come_later_join_the_record(tmp_path):
    a, b = tf.Variable(1.0, name="a"), tf.Variable(1.0, name="b")
    with GradHealthWriter(tmp_path, explain=False) as writer:
        for _ in range(2):
            writer.record([tf.constant(1.0)], [a])
        for _ in range(2):
            writer.record([tf.constant(1.0), tf.constant(2.0)], [a, b])
        writer.record([tf.constant(2.0)], [b])
    group = only_group(tmp_path)
    states = group.windows.select(np.argsort(group.windows.first_step)).state_last
    at = [names_of(group).index(name) for name in ("a", "b")]
    assert states[:, at].tolist() == [[1, 0], [1, 0], [1, 1], [1, 1], [0, 1]]


def test_a_step_that_goes_back_begins_the_record_anew_from_there(tmp_path):
    variable = tf.Variable(1.0)
    with GradHealthWriter(tmp_path, explain=False) as writer:
        for step in (0, 1, 2, 3, 4, 2, 3):
            writer.record([tf.constant(float(step + 1))], [variable], step=step)
    group = only_group(tmp_path)
    assert group.windows.first_step.tolist() == [0, 1, 2, 3]
    assert len(group.generations) == 2


def test_two_variables_of_one_name_are_both_seen_and_told_apart(tmp_path):
    twins = [tf.Variable([1.0], name="dense/kernel"), tf.Variable([1.0], name="dense/kernel")]
    with GradHealthWriter(tmp_path, explain=False) as writer:
        writer.record([tf.constant([3.0]), None], twins)
    group = only_group(tmp_path)
    assert names_of(group) == ["dense/kernel", "dense/kernel"]
    assert group.windows.state_last[0].tolist() == [State.FINITE, State.NONE]


def test_strange_names_come_back_as_they_were(tmp_path):
    names = ["<script>alert(1)</script>", "a \"quoted\" 'name'", "größe/重み", "a/b//c", "%2F&amp;"]

    class Named:
        def __init__(self, name):
            self.path, self.shape, self.dtype = name, (2,), "float32"

    with GradHealthWriter(tmp_path, explain=False) as writer:
        writer.record([tf.ones([2])] * len(names), [Named(name) for name in names], group="größe/<b>")
    group = only_group(tmp_path)
    assert names_of(group) == names
    assert group.schema.group == "größe/<b>"


def test_scalars_empty_tensors_integers_and_complex_numbers(tmp_path):
    variables = [
        tf.Variable(1.0, name="scalar"),
        tf.Variable(tf.zeros([0, 4]), name="empty"),
        tf.Variable(3, name="integer"),
        tf.Variable([3 + 4j], name="complex"),
    ]
    with GradHealthWriter(tmp_path, explain=False) as writer:
        writer.record([tf.constant(-2.0), tf.zeros([0, 4]), None, tf.constant([3 + 4j])], variables)
        writer.record([tf.constant(-2.0), None, tf.constant(2), None], variables)
    group = only_group(tmp_path)
    assert [v.dtype for v in group.schema.variables] == ["float32", "float32", "int32", "complex128"]
    assert group.windows.state_last.tolist() == [[1, 1, 3, 1], [1, 3, 1, 3]]
    np.testing.assert_allclose(group.windows.norm_last[0], [2, 0, np.nan, 5])


def test_on_incident_is_called_once_for_each_and_may_fail(tmp_path):
    told = []
    variable = tf.Variable(1.0, name="w")
    with GradHealthWriter(tmp_path, on_incident=told.append, explain=False) as writer:
        for _ in range(30):
            writer.record([tf.constant(float("nan"))], [variable])
    assert [(i.kind, i.first_step, i.variables) for i in told] == [("nan", 0, ("w",))]

    def fails(incident):
        raise KeyError("no such pager")

    with (
        pytest.warns(UserWarning, match="stopped calling `on_incident`.*no such pager"),
        GradHealthWriter(tmp_path / "b", on_incident=fails, explain=False) as writer,
    ):
        writer.record([tf.constant(float("nan"))], [variable])
        writer.record([tf.constant(1.0)], [variable])
    assert only_group(tmp_path / "b").windows.steps.sum() == 2


def test_on_incident_comes_within_ten_steps_or_a_second(tmp_path):
    told = []
    variable = tf.Variable(1.0)
    with GradHealthWriter(tmp_path, on_incident=lambda i: told.append(time.monotonic()), explain=False) as writer:
        for _ in range(5):
            writer.record([tf.constant(1.0)], [variable])
        bad = time.monotonic()
        writer.record([tf.constant(float("inf"))], [variable])
        while not told and time.monotonic() - bad < 30:
            time.sleep(0.02)
            writer.record([tf.constant(1.0)], [variable])
    assert told and told[0] - bad < 1.5


def test_ignored_variables_raise_no_alarm(tmp_path):
    variables = [tf.Variable(1.0, name="used"), tf.Variable(1.0, name="encoder/unused")]
    with GradHealthWriter(tmp_path, ignore=["encoder"], explain=False) as writer:
        writer.record([tf.constant(1.0), None], variables)
    run = read(tmp_path)
    assert run.incidents == ()
    assert [v.expected_none for v in run.groups["gradients"].schema.variables] == [False, True]


def test_any_filesystem_of_tensorflow_will_do():
    variable = tf.Variable(1.0)
    with GradHealthWriter("ram://runs/one", explain=False) as writer:
        for _ in range(3):
            writer.record([tf.constant(1.0)], [variable])
    from tb_gradhealth.format.reader import read_run

    (group,) = read_run("ram://runs/one/gradhealth").groups.values()
    assert group.windows.steps.sum() == 3


def test_eager_recording_does_not_read_the_device_at_every_step(tmp_path, monkeypatch):
    from tb_gradhealth.record.ring import Ring

    reads = []
    read_ring = Ring.transfer
    monkeypatch.setattr(Ring, "transfer", lambda ring: reads.append(1) or read_ring(ring))
    monkeypatch.setattr("tb_gradhealth.record.recorder.LOOK_SECONDS", 1e9)
    variable = tf.Variable(1.0)
    with GradHealthWriter(tmp_path, explain=False) as writer:
        for _ in range(640):
            writer.record([tf.constant(1.0)], [variable])
    assert len(reads) <= 640 // 63 + 3


# Bad input: what was wrong, what was received, what to do.


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"log_dir": 3}, TypeError, "must be a path.*Received: log_dir=3 .of type int.*tensorboard --logdir"),
        ({"log_dir": ""}, ValueError, "non-empty path.*Received: log_dir=''"),
        ({"every": 0}, ValueError, 'must be "auto" or a number of steps.*Received: every=0.*Leave it at "auto"'),
        ({"every": "often"}, ValueError, "Received: every='often'"),
        ({"ignore": "encoder"}, TypeError, "must be a list of names.*Received: ignore='encoder'.*ignore="),
        ({"detail": -1}, ValueError, "must be a number of steps, 0 for never.*Received: detail=-1"),
    ],
)
def test_bad_options(tmp_path, options, error, words):
    with pytest.raises(error, match=words):
        GradHealthWriter(**{"log_dir": tmp_path, **options})


def test_bad_records(tmp_path):
    variable = tf.Variable(1.0, name="w")
    gradient = tf.constant(1.0)
    with GradHealthWriter(tmp_path, explain=False) as writer:
        with pytest.raises(ValueError, match=r"no variables to record. Received: variables=\[\]. Pass the list"):
            writer.record([], [])
        with pytest.raises(ValueError, match=r"same length. Received: 1 gradients and 2 variables. Pass the very list"):
            writer.record([gradient], [variable, variable])
        with pytest.raises(TypeError, match=r"must be lists of the same length.*record"):
            writer.record(gradient, variable)
        with pytest.raises(TypeError, match=r"gradient of 'w' must be a tensor.*Received: 'x' .of type str"):
            writer.record(["x"], [variable])
        with pytest.raises(
            TypeError, match=r"`step` must be a whole number. Received: step=1.5 .*optimizer.iterations"
        ):
            writer.record([gradient], [variable], step=1.5)
        with pytest.raises(TypeError, match="Received: a tensor of dtype float32"):
            writer.record([gradient], [variable], step=tf.constant(1.0))
        with pytest.raises(ValueError, match=r"must not be negative. Received: step=-1. Count steps from 0"):
            writer.record([gradient], [variable], step=-1)
        writer.record([gradient], [variable])
    with pytest.raises(RuntimeError, match=r"is closed.*Keep it open"):
        writer.record([gradient], [variable])
    with tf.Graph().as_default(), pytest.raises(RuntimeError, match=r"TensorFlow 1 graph.*v1.GradHealthHook"):
        GradHealthWriter(tmp_path).record([gradient], [variable])
    writer.close()


def test_no_number_of_ours_on_the_device_is_nan_or_inf(tmp_path):
    """`tf.debugging.enable_check_numerics` would stop the training there."""
    from tb_gradhealth.record.ring import Ring, StepFacts
    from tb_gradhealth.record.statistics import measure

    ring = Ring(3, capacity=2)
    gradients = [tf.constant([1.0, float("nan")]), None, tf.constant([0.0])]
    for _ in range(5):
        ring.write(measure(gradients, True), StepFacts())
    assert np.isfinite(ring._table.numpy()).all()


def test_an_error_of_ours_at_a_step_is_one_warning(tmp_path, monkeypatch):
    monkeypatch.setattr("tb_gradhealth.record.step.FirstLook", lambda *a: 1 / 0)
    variable = tf.Variable(1.0)
    with pytest.warns(UserWarning, match="stopped recording to .*division by zero") as warned:  # noqa: SIM117
        with GradHealthWriter(tmp_path, explain=False) as writer:
            for _ in range(3):
                writer.record([tf.constant(1.0)], [variable])
    assert len(warned) == 1
