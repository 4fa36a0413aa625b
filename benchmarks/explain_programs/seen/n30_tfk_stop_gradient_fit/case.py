import tensorflow as tf
import tf_keras


class Frozen(tf_keras.Model):
    def __init__(self):
        super().__init__()
        self.base = tf_keras.layers.Dense(5, activation="relu", name="base")
        self.top = tf_keras.layers.Dense(1, name="top")

    def call(self, x, training=False):
        features = self.base(x)
        features = tf_keras.backend.stop_gradient(features)
        return self.top(features)


def build():
    tf_keras.utils.set_random_seed(30)
    model = Frozen()
    model.compile(optimizer=tf_keras.optimizers.SGD(0.01), loss="mse")
    return {"model": model, "x": tf.random.normal([6, 3], seed=31), "y": tf.ones([6, 1])}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=6, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
REQUIRES = "tf_keras"
TITLE = "tf_keras: the base is frozen with stop_gradient instead of trainable = False"
KIND = "none"
MODE = "fit"
EXPECT = {"base": "none", "top": "ok"}
CAUSE = "K.stop_gradient cuts off the base."
CAUSE_LINE = "features = tf_keras.backend.stop_gradient(features)"
CAUSE_OP = "StopGradient"
REASONS = ["stop_gradient"]
FIX = [("        features = tf_keras.backend.stop_gradient(features)\n", "")]
