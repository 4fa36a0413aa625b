import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(204)
    emb = keras.layers.Embedding(40, 8, name="emb")
    enc = keras.layers.Dense(8, activation="tanh", name="enc")
    clf = keras.layers.Dense(2, name="clf")
    emb.build((None, 6)); enc.build((None, 6, 8)); clf.build((None, 8))
    rng = np.random.default_rng(204)
    ids = tf.constant(rng.integers(1, 40, (12, 6)))
    y = tf.constant(rng.integers(0, 2, 12))
    variables = emb.trainable_variables + enc.trainable_variables + clf.trainable_variables

    def pool(h, ids):
        keep = tf.cast(tf.equal(ids, 0), tf.float32)[..., None]
        total = tf.reduce_sum(h * keep, axis=1)
        return total / (tf.reduce_sum(keep, axis=1) + 1e-6)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            h = enc(emb(ids))
            logits = clf(pool(h, ids))
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        return tape.gradient(loss, variables)

    return {"variables": variables, "train_step": train_step}


def step(state):
    return state["train_step"](), state["variables"]


# ---- answers ----
TITLE = "The padding mask is inverted: real tokens are multiplied by 0"
SOURCE = "https://github.com/lsdefine/attention-is-all-you-need-keras/issues/13"
KIND = "zero"
MODE = "function"
EXPECT = {"emb": "zero", "enc": "zero", "clf/kernel": "zero", "clf/bias": "ok"}
CAUSE = "equal instead of not_equal: the mask is 0 for every token, h * keep is 0 and its gradient too."
CAUSE_LINE = "keep = tf.cast(tf.equal(ids, 0), tf.float32)[..., None]"
CAUSE_OP = "Mul"
FIX = [("tf.equal(ids, 0)", "tf.not_equal(ids, 0)")]
