import keras
import numpy as np
import tensorflow as tf


class Weighted(keras.Model):
    def __init__(self):
        super().__init__()
        self.h = keras.layers.Dense(10, activation="elu", name="h")
        self.o = keras.layers.Dense(1, name="o")

    def call(self, x, training=False):
        return self.o(self.h(x))

    def train_step(self, data):
        x, y, w = keras.utils.unpack_x_y_sample_weight(data)
        share = w / tf.reduce_sum(w)
        with tf.GradientTape() as tape:
            err = tf.square(self(x, training=True) - y)
            loss = tf.reduce_sum(share * tf.squeeze(err, -1))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(grads, self.trainable_variables)
        return {"loss": loss}


def build():
    keras.utils.set_random_seed(313)
    model = Weighted()
    model.compile(optimizer=keras.optimizers.SGD(0.01))
    rng = np.random.default_rng(313)
    x = rng.normal(size=(64, 5)).astype("float32")
    y = rng.normal(size=(64, 1)).astype("float32")
    w = rng.uniform(0, 1, 64).astype("float32")
    w[48:56] = 0.0                                # recordings that were rejected
    data = tf.data.Dataset.from_tensor_slices((x, y, w)).batch(8)
    return {"model": model, "data": data}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["data"], epochs=1, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Weights are normalised per batch; one batch has only zero weights"
SOURCE = "https://github.com/Socret360/object-detection-in-keras/issues/20"
KIND = "nan"
MODE = "fit"
EXPECT_FIRST = {"h": "ok", "o": "ok"}
EXPECT = {"h": "nan", "o": "nan"}
CAUSE = "All sample weights of the seventh batch are 0: 0 / 0."
CAUSE_LINE = "share = w / tf.reduce_sum(w)"
CAUSE_OP = "RealDiv"
FIX = [("w / tf.reduce_sum(w)", "w / (tf.reduce_sum(w) + 1e-6)")]
