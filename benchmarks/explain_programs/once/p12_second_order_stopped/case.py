import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(12)
    f = keras.layers.Dense(1, use_bias=False, name="f", activation="softplus")
    f.build((None, 2))
    alpha = tf.Variable(0.3, name="alpha")
    return {"f": f, "alpha": alpha, "x": tf.random.normal([4, 2], seed=13)}


def step(state):
    f, alpha, x = state["f"], state["alpha"], state["x"]
    variables = [*f.trainable_variables, alpha]
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            energy = tf.reduce_sum(f(x))
        force = tf.stop_gradient(inner.gradient(energy, x))
        moved = x - alpha * force
        loss = tf.reduce_mean(tf.square(moved))
    return outer.gradient(loss, variables), variables


# ---- answers ----
TITLE = "Force matching: the inner gradient is stopped"
KIND = "none"
MODE = "eager"
EXPECT = {"f/": "none", "alpha": "ok"}
CAUSE = "stop_gradient around the inner gradient makes the second order vanish."
CAUSE_LINE = "force = tf.stop_gradient(inner.gradient(energy, x))"
CAUSE_OP = "StopGradient"
REASONS = ["stop_gradient"]
FIX = [("tf.stop_gradient(inner.gradient(energy, x))", "inner.gradient(energy, x)")]
