"""What recording costs a step: operations, waiting for the host, memory. Counted, not timed."""

import gc
import time

import keras
import numpy as np
import pytest
import tensorflow as tf
from training import fit, mlp, only_group

import tb_gradhealth
from tb_gradhealth import GradHealthWriter
from tb_gradhealth.record import layout, tracing
from tb_gradhealth.record.channel import Channel
from tb_gradhealth.record.clipping import NO_CLIPPING
from tb_gradhealth.record.poller import AIM, LONGEST, SHORTEST, Poller
from tb_gradhealth.record.recorder import CAPACITY
from tb_gradhealth.record.ring import Ring, StepFacts, step_counter
from tb_gradhealth.record.step import PLAIN, Handling


def channel_of(variables, capacity=CAPACITY):
    return Channel(variables, [step_counter()], [None], capacity, NO_CLIPPING)


def traced(variables, how=PLAIN):
    """The graph of a step that records ready gradients and does nothing else."""
    channel = channel_of(variables)

    def step(gradients):
        written = channel.write(gradients, StepFacts(loss=tf.constant(1.0)), how)
        if written.detail is not None:
            written.detail.finish()

    signature = [[tf.TensorSpec(variable.shape) for variable in variables]]
    return tf.function(step, input_signature=signature, autograph=False).get_concrete_function().graph


def test_operations_of_a_step_do_not_grow_with_the_variables_but_for_one_reduction_each():
    how = Handling(detail=100, updates=True)
    few, many = (traced([tf.Variable(tf.ones([3])) for _ in range(count)], how).get_operations() for count in (10, 60))
    uncounted = ("Placeholder", "Const", "Identity", "NoOp")
    few, many = ([op for op in graph if op.type not in uncounted] for graph in (few, many))
    assert sum(op.type == "L2Loss" for op in many) == 60
    others = [op for op in many if op.type != "L2Loss"]
    assert len(others) == len([op for op in few if op.type != "L2Loss"])
    assert len(others) <= 40


def test_what_is_rare_stays_folded_away():
    graph = traced([tf.Variable(tf.ones([3]))], Handling(detail=100, updates=True))
    branches = [op for op in graph.get_operations() if op.type in ("If", "StatelessIf")]
    assert len(branches) == 2  # all that is rare before the update, and the update ratio after it
    assert not any(op.get_attr(tracing.LOWERING) for op in branches)


def test_a_branch_of_tensorflow_would_not_be_folded():
    """The negative of the test above: the attribute it looks at tells the two apart."""

    @tf.function(autograph=False)
    def step(flag):
        return tf.cond(flag, lambda: tf.constant(1.0), lambda: tf.constant(2.0))

    graph = step.get_concrete_function(tf.TensorSpec([], tf.bool)).graph
    (branch,) = [op for op in graph.get_operations() if op.type in ("If", "StatelessIf")]
    assert branch.get_attr(tracing.LOWERING)


@pytest.fixture
def transfers(monkeypatch):
    """Counts what the host reads from the device for us, with the clock's part taken away."""
    found = []
    transfer = Ring.transfer
    monkeypatch.setattr(Ring, "transfer", lambda ring: found.append(1) or transfer(ring))
    monkeypatch.setattr("tb_gradhealth.record.recorder.LOOK_SECONDS", 1e9)
    return found


def test_fit_waits_for_the_device_once_in_half_a_ring_and_at_its_end(tmp_path, transfers):
    steps = 320
    fit(mlp(keras), [tb_gradhealth.GradHealthCallback(tmp_path)], epochs=1, rows=8 * steps)
    assert len(transfers) <= steps // (CAPACITY - 1) + 3
    assert int(only_group(tmp_path).windows.steps.sum()) == steps


def test_no_operation_of_a_recorded_step_calls_the_host():
    graph = traced([tf.Variable(tf.ones([3]))], Handling(detail=100, updates=True))
    definition = graph.as_graph_def()
    types = {node.op for node in definition.node}
    types |= {node.op for function in definition.library.function for node in function.node_def}
    assert "L2Loss" in types and "ResourceScatterUpdate" in types and "BitwiseAnd" in types  # also what is in branches
    assert not types & {"PyFunc", "EagerPyFunc", "PyFuncStateless", "HostCompute", "WriteSummary", "Print", "PrintV2"}


def test_memory_on_the_device_is_a_bounded_number_of_rows():
    count = 50
    before = {id(v) for v in _variables_alive()}
    channel = channel_of([tf.Variable(tf.ones([4])) for _ in range(count)])
    ours = [v for v in _variables_alive() if id(v) not in before and v.name.startswith("gradhealth")]
    floats = sum(int(np.prod(v.shape)) for v in ours)
    assert channel.capacity == 64
    accumulators = layout.SUMMARY_ROWS + layout.DETAIL_ROWS
    assert floats <= (64 + accumulators) * layout.width(count) + 8
    assert layout.width(count) == 3 * count + len(layout.SCALARS)


def _variables_alive():
    return [v for v in gc.get_objects() if isinstance(v, tf.Variable)]


def test_the_update_ratio_is_known_under_xla(tmp_path):
    ratios = {}
    for jit in (False, True):
        model = mlp(keras, keras.optimizers.SGD(0.01), jit_compile=jit)
        fit(model, [tb_gradhealth.GradHealthCallback(tmp_path / str(jit), detail=4)], epochs=1)
        windows = only_group(tmp_path / str(jit)).windows
        ratios[jit] = windows.update_ratio[windows.detail_step >= 0]
    assert np.isfinite(ratios[True]).any(axis=1).all()
    np.testing.assert_allclose(ratios[True], ratios[False], rtol=1e-3)


def test_a_record_takes_few_bytes_per_variable(tmp_path):
    variables = [tf.Variable(tf.ones([2])) for _ in range(100)]
    with GradHealthWriter(tmp_path, every=1, explain=False) as writer:
        for step in range(70):
            writer.record([tf.ones([2]) * (step + 1) for _ in variables], variables)
    size = sum(path.stat().st_size for path in (tmp_path / "gradhealth").iterdir())
    assert size / 70 / 100 < 80


def test_a_fast_compiled_loop_is_recorded_step_by_step_from_the_first(tmp_path):
    variable = tf.Variable(tf.ones([4]))
    with GradHealthWriter(tmp_path, explain=False, every=1) as writer:

        @tf.function(autograph=False)
        def step():
            writer.record([variable * 2.0], [variable])

        for _ in range(300):
            step()
            time.sleep(0.002)
    windows = only_group(tmp_path).windows
    assert int(windows.steps.sum()) == 300
    assert (windows.steps[:64] == 1).all()


class Stop:
    """Stands for the event that ends a poller: passes the time instead of waiting for it."""

    def __init__(self):
        self.now, self.pauses, self.is_over = 0.0, [], False

    def wait(self, pause):
        self.pauses.append(pause)
        self.now += pause
        return self.is_over

    def monotonic(self):
        return self.now


def test_the_poller_looks_at_the_fastest_pace_it_has_seen(monkeypatch):
    stop, paces = Stop(), iter([0, 0, 0, 1000, 1000, 0, 0, 1000])

    def look():
        pace = next(paces, None)
        stop.is_over = pace is None
        return round((pace or 0) * stop.pauses[-1])

    poller = Poller(look)
    poller._stop = stop
    monkeypatch.setattr("tb_gradhealth.record.poller.time", stop)
    poller._run()
    assert stop.pauses[:4] == [SHORTEST] * 4
    assert stop.pauses[4:] == pytest.approx([AIM / 1000] * (len(stop.pauses) - 4))
    assert SHORTEST < AIM / 1000 < LONGEST
