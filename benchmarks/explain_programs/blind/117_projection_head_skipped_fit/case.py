import keras
import numpy as np
import tensorflow as tf


def nt_xent(a, b, temp=0.2):
    a, b = tf.math.l2_normalize(a, 1, 1e-6), tf.math.l2_normalize(b, 1, 1e-6)
    logits = tf.matmul(a, b, transpose_b=True) / temp
    labels = tf.range(tf.shape(a)[0])
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))


class SimClr(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential([keras.layers.Dense(16, activation="relu", name="enc1"),
                                         keras.layers.Dense(8, name="enc2")], name="encoder")
        self.head = keras.Sequential([keras.layers.Dense(8, activation="relu", name="proj1"),
                                      keras.layers.Dense(4, name="proj2")], name="head")

    def call(self, x):
        return self.head(self.encoder(x))

    def train_step(self, data):
        x = data[0] if isinstance(data, tuple) else data
        one = x + 0.1 * tf.random.normal(tf.shape(x))
        two = x + 0.1 * tf.random.normal(tf.shape(x))
        with tf.GradientTape() as tape:
            h1 = self.encoder(one, training=True)
            h2 = self.encoder(two, training=True)
            z1, z2 = self.head(h1, training=True), self.head(h2, training=True)
            loss = nt_xent(h1, h2)
        weights = self.trainable_weights
        grads = tape.gradient(loss, weights)
        self.optimizer.apply_gradients(zip(grads, weights))
        return {"loss": loss, "spread": tf.math.reduce_std(z1 - z2)}


def build():
    keras.utils.set_random_seed(117)
    model = SimClr()
    model(tf.zeros([1, 12]))
    model.compile(optimizer=keras.optimizers.Adam(1e-3))
    x = np.random.default_rng(17).normal(size=(32, 12)).astype("float32")
    return {"model": model, "x": x, "y": x}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "SimCLR: the contrastive loss gets the encoder output instead of the projection"
SOURCE = "https://github.com/google-research/simclr/issues/105"
KIND = "none"
MODE = "fit"
EXPECT = {"enc1": "ok", "enc2": "ok", "proj1": "none", "proj2": "none"}
EXPECT_LOG = "Gradients do not exist for variables"
CAUSE = "nt_xent is called with h1, h2; the projections z1, z2 are only used for a metric."
CAUSE_LINE = "loss = nt_xent(h1, h2)"
CAUSE_OP = "unused"
FIX = [("loss = nt_xent(h1, h2)", "loss = nt_xent(z1, z2)")]
