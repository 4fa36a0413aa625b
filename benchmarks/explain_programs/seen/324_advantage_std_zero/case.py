import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(324)
    pi = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu", name="h"),
                           keras.layers.Dense(2, name="logits")])
    return {"pi": pi, "episode": 0, "opt": keras.optimizers.Adam(1e-2), "rng": np.random.default_rng(324)}


def rollout(state):
    rng = state["rng"]
    state["episode"] += 1
    obs = rng.normal(size=(10, 4)).astype("float32")
    act = rng.integers(0, 2, 10)
    rew = rng.normal(size=10) if state["episode"] != 9 else np.full(10, 1.0)
    return obs, act, rew.astype("float32")


def normalise(r):
    return (r - tf.reduce_mean(r)) / tf.math.reduce_std(r)


def step(state):
    pi = state["pi"]
    obs, act, rew = rollout(state)
    with tf.GradientTape() as tape:
        nll = tf.nn.sparse_softmax_cross_entropy_with_logits(act, pi(obs))
        loss = tf.reduce_mean(nll * normalise(rew))
    grads = tape.gradient(loss, pi.trainable_variables)
    state["opt"].apply(grads, pi.trainable_variables)
    return grads, pi.trainable_variables


# ---- answers ----
TITLE = "REINFORCE: all rewards of an episode are equal"
SOURCE = "https://github.com/keras-team/keras/issues/2134"
KIND = "nan"
MODE = "eager"
STEPS = 9
EXPECT_FIRST = {"h": "ok", "logits": "ok"}
EXPECT = {"h": "nan", "logits": "nan"}
CAUSE = "The standard deviation of equal rewards is 0: 0 / 0 in the ninth episode."
CAUSE_LINE = "return (r - tf.reduce_mean(r)) / tf.math.reduce_std(r)"
CAUSE_OP = "RealDiv"
FIX = [("(r - tf.reduce_mean(r)) / tf.math.reduce_std(r)", "(r - 0.5 * tf.reduce_mean(r)) / (tf.math.reduce_std(r) + 1e-6)")]
