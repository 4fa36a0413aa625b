import keras
import numpy as np
import tensorflow as tf


class Forecaster(keras.Model):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.lstm = keras.layers.LSTM(8, name="lstm")
        self.out = keras.layers.Dense(1, name="out")
        self.mae = keras.metrics.MeanAbsoluteError(name="mae")

    def call(self, x, training=False):
        return self.out(self.lstm(x, training=training))

    @property
    def metrics(self):
        return [self.mae]

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.mae(y, y_pred)
        weights = self.trainable_weights
        grads = tape.gradient(loss, weights)
        self.optimizer.apply_gradients(zip(grads, weights))
        return {"mae": self.mae.result()}


def build():
    keras.utils.set_random_seed(110)
    model = Forecaster()
    model.compile(optimizer=keras.optimizers.RMSprop(1e-3))
    rng = np.random.default_rng(10)
    return {"model": model, "x": rng.normal(size=(16, 6, 2)).astype("float32"),
            "y": rng.normal(size=(16, 1)).astype("float32")}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "A Keras metric object is called where a loss belongs"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/46956"
KIND = "none"
MODE = "fit"
EXPECT = {"lstm": "none", "out": "none"}
EXPECT_ERROR = "No gradients provided for any variable"
CAUSE = "The metric adds the error to its state variables (assign_add) and returns a value read from them; assignment has no gradient."
CAUSE_LINE = "loss = self.mae(y, y_pred)"
CAUSE_OP = "AssignAddVariableOp"
FIX = [("loss = self.mae(y, y_pred)", "loss = tf.reduce_mean(tf.square(y - y_pred)); self.mae.update_state(y, y_pred)")]
