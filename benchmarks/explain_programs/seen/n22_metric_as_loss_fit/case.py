import keras
import tensorflow as tf


class Regressor(keras.Model):
    def __init__(self):
        super().__init__()
        self.layer = keras.layers.Dense(1, name="layer")
        self.error = keras.metrics.MeanSquaredError(name="error")

    def call(self, x):
        return self.layer(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            pred = self(x, training=True)
            self.error.update_state(y, pred)
            loss = self.error.result()
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


def build():
    keras.utils.set_random_seed(22)
    model = Regressor()
    model.compile(optimizer=keras.optimizers.SGD(0.01))
    return {"model": model, "x": tf.random.normal([8, 3], seed=23), "y": tf.ones([8, 1])}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=4, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "A metric's result is used as the loss"
KIND = "none"
MODE = "fit"
EXPECT = {"layer": "none"}
EXPECT_ERROR = "No gradients provided for any variable"
CAUSE = "update_state adds the error into variables with assign; result() reads them."
CAUSE_LINE = "self.error.update_state(y, pred)"
CAUSE_OP = "AssignAddVariableOp"
REASONS = ["assigned"]
FIX = [("loss = self.error.result()", "loss = tf.reduce_mean(tf.square(pred - y))")]
