"""`v1.GradHealthHook`: sessions of TensorFlow 1."""

import numpy as np
import pytest
import tensorflow as tf
from training import only_group, read

import tb_gradhealth

v1 = tf.compat.v1


def graph():
    """A graph with three variables, of which the last gets no gradient."""
    with tf.Graph().as_default() as built:
        x = v1.placeholder(tf.float32, [], name="x")
        a = v1.get_variable("a", initializer=[1.0, 2.0], use_resource=True)
        b = v1.get_variable("b", initializer=3.0, use_resource=False)
        c = v1.get_variable("c", initializer=1.0)
        loss = tf.reduce_sum(a * x) + b / x
        optimizer = v1.train.GradientDescentOptimizer(0.0)
        pairs = optimizer.compute_gradients(loss, [a, b, c])
        step = v1.train.get_or_create_global_step()
        train = optimizer.apply_gradients(pairs, global_step=step)
    return built, x, loss, pairs, train, step


def test_a_monitored_session(tmp_path):
    built, x, loss, pairs, train, step = graph()
    with built.as_default():
        hook = tb_gradhealth.v1.GradHealthHook(tmp_path, pairs, loss=loss, step=step, explain=False)
        with v1.train.MonitoredSession(hooks=[hook]) as session:
            for value in (4.0, 0.0, 1.0):
                session.run(train, {x: value})
    steps = only_group(tmp_path).windows.first_step
    assert len(steps) == 3 and (np.diff(steps) >= 1).all()


def test_a_bare_session(tmp_path):
    built, x, loss, pairs, train, _ = graph()
    with built.as_default():
        prepare = v1.global_variables_initializer()
    hook = tb_gradhealth.v1.GradHealthHook(tmp_path, pairs, loss=loss, explain=False)
    with hook, v1.Session(graph=built) as session:
        session.run(prepare)
        for value in (4.0, 0.0, 1.0):
            _, rows = session.run([train, hook.rows], {x: value})
            hook.record(rows)
    with pytest.raises(RuntimeError, match=r"is closed.*new hook"):
        hook.record(rows)
    assert {"none", "inf"} <= {i.kind for i in read(tmp_path).incidents}
    windows = only_group(tmp_path).windows
    assert windows.first_step.tolist() == [0, 1, 2]
    assert windows.state_last.tolist() == [[1, 1, 3], [2, 4, 3], [1, 1, 3]]
    np.testing.assert_allclose(windows.norm_last[0, :2], [4 * np.sqrt(2), 0.25], rtol=1e-6)
    assert windows.loss[0] == pytest.approx(12.75)


def test_bad_input(tmp_path):
    built, _, _, pairs, _, _ = graph()
    hook = tb_gradhealth.v1.GradHealthHook(tmp_path, pairs, explain=False)
    with pytest.raises(ValueError, match=r"value of `hook.rows`.*Received: an array of shape \(2,\).*session.run"):
        hook.record(np.zeros(2))
    with pytest.raises(ValueError, match="no variables"):
        tb_gradhealth.v1.GradHealthHook(tmp_path, [])
    with pytest.raises(ValueError, match="not of a TensorFlow 1 graph"):
        tb_gradhealth.v1.GradHealthHook(tmp_path, [(tf.constant(1.0), tf.Variable(1.0))])
    hook.close()
    assert built is not None
