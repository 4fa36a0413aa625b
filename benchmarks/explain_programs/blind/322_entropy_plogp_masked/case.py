import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(322)
    pi = keras.Sequential([keras.Input((5,)), keras.layers.Dense(16, activation="tanh", name="p1"),
                           keras.layers.Dense(6, name="p2")])
    rng = np.random.default_rng(322)
    obs = tf.constant(rng.normal(size=(20, 5)), tf.float32)
    legal = tf.constant(rng.uniform(size=(20, 6)) > 0.3).numpy()
    legal[:, 0] = True
    legal = tf.constant(legal)
    act = tf.zeros([20], tf.int32)
    adv = tf.constant(rng.normal(size=20), tf.float32)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            logits = tf.where(legal, pi(obs), -1e9)
            probs = tf.nn.softmax(logits)
            surprise = probs * tf.math.log(probs)
            entropy = -tf.reduce_sum(tf.where(legal, surprise, tf.zeros_like(surprise)), -1)
            pg = adv * tf.nn.sparse_softmax_cross_entropy_with_logits(act, logits)
            loss = tf.reduce_mean(pg - 0.01 * entropy)
        return tape.gradient(loss, pi.trainable_variables)

    return {"pi": pi, "train_step": train_step}


def step(state):
    return state["train_step"](), state["pi"].trainable_variables


# ---- answers ----
TITLE = "Entropy bonus with illegal actions masked out"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/38349"
KIND = "nan"
MODE = "function"
EXPECT = {"p1": "nan", "p2": "nan"}
CAUSE = "The probability of an illegal action is exactly 0; log(0) in the masked branch gives 0 * Inf = NaN backwards."
CAUSE_LINE = "surprise = probs * tf.math.log(probs)"
CAUSE_OP = "Log"
FIX = [("tf.math.log(probs)", "tf.math.log(probs + 1e-8)")]
