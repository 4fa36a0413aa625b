import keras
import tensorflow as tf


class Gate(keras.layers.Layer):
    def call(self, h):
        return tf.stop_gradient(h) * 1.0


def build():
    keras.utils.set_random_seed(2)
    inp = keras.Input((8,))
    h = inp
    for i in range(50):
        d = keras.layers.Dense(8, activation="selu", name=f"deep_{i:02d}")(h)
        h = keras.layers.Add(name=f"add_{i:02d}")([h, d]) if i else d
        if i == 24:
            h = Gate(name="gate")(h)
    model = keras.Model(inp, keras.layers.Dense(1, name="out")(h))
    model.compile(optimizer=keras.optimizers.SGD(1e-4), loss="mse")
    return {"model": model, "x": tf.random.normal([8, 8], seed=3), "y": tf.ones([8, 1])}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=8, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Functional model of fifty layers with a stop_gradient left in after layer 24"
KIND = "none"
MODE = "fit"
EXPECT = {f"deep_{i:02d}": ("none" if i <= 24 else "ok") for i in range(50)} | {"out": "ok"}
CAUSE = "The Gate layer was meant for debugging and stops the gradient for the 25 layers before it."
CAUSE_LINE = "return tf.stop_gradient(h) * 1.0"
CAUSE_OP = "StopGradient"
REASONS = ["stop_gradient"]
FIX = [("tf.stop_gradient(h) * 1.0", "h * 1.0")]
