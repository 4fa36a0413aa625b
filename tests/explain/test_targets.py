"""What a tape differentiated is the loss where the caller of `record` gave none; nothing is kept alive for it."""

import gc
import weakref

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import tb_gradhealth  # noqa: E402
from tb_gradhealth.explain.tape_watch import TapeWatch  # noqa: E402
from tb_gradhealth.format.reader import find_runs, read_run  # noqa: E402


def gradient_of(w, factor):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * factor)
    return loss, tape.gradient(loss, [w])


def test_the_target_is_found_by_the_gradients_that_came_of_it():
    w = tf.Variable([1.0, 2.0])
    with TapeWatch() as watch:
        for _ in range(30):  # long after eager steps are recorded no more
            first, of_first = gradient_of(w, 1.0)
            second, of_second = gradient_of(w, 2.0)
        assert watch.target_of(of_first) is first
        assert watch.target_of(of_second) is second
        assert watch.target_of([of_first[0] * 0.5]) is second  # the latest, where gradients were made from others
    assert watch.target_of(of_second) is None


def test_a_target_is_not_kept_alive_and_not_given_out_in_another_graph():
    w = tf.Variable([1.0, 2.0])
    with TapeWatch() as watch:
        for _ in range(30):
            loss, gradients = gradient_of(w, 1.0)
        seen = []

        @tf.function
        def elsewhere():
            seen.append(watch.target_of(gradients))

        elsewhere()
        assert seen == [None]
        alive = weakref.ref(loss)
        del loss
        gc.collect()
        assert alive() is None and watch.target_of(gradients) is None


@pytest.mark.parametrize("compiled", [False, True])
def test_record_takes_the_loss_from_the_tape(tmp_path, compiled):
    w = tf.Variable([1.0, 2.0], name="w")
    with tb_gradhealth.GradHealthWriter(str(tmp_path)) as writer:

        def step(factor):
            loss, gradients = gradient_of(w, factor)
            writer.record(gradients, [w])
            return loss

        run = tf.function(step) if compiled else step
        for factor in (1.0, 2.0, 3.0):
            run(tf.constant(factor))
    (name,) = find_runs(str(tmp_path))
    (group,) = read_run(f"{tmp_path}/{name}").groups.values()
    np.testing.assert_allclose(group.windows.loss, [3.0, 6.0, 9.0])


def without_path(w):
    logits = tf.reshape(w, [3, 1, 3])
    label = tf.sparse.from_dense([[1, 1, 1]])
    return tf.reduce_mean(tf.nn.ctc_loss(label, logits, None, [3], blank_index=-1))


def test_an_inf_loss_with_finite_gradients_is_told_without_being_handed_over(tmp_path):
    w = tf.Variable(np.linspace(0.0, 1.0, 9, dtype=np.float32), name="w")
    with tb_gradhealth.GradHealthWriter(str(tmp_path)) as writer:
        with tf.GradientTape() as tape:
            loss = without_path(w)
        writer.record(tape.gradient(loss, [w]), [w])
    (name,) = find_runs(str(tmp_path))
    causes = read_run(f"{tmp_path}/{name}").causes
    assert [(c.kind, c.reason_id, "ctc_loss" in c.code) for c in causes] == [("inf", "ctc_label_too_long", True)]
