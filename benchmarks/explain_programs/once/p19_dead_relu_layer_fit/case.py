import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(19)
    inp = keras.Input((4,))
    h = keras.layers.Dense(6, name="pre", bias_initializer=keras.initializers.Constant(-50.0))(inp)
    h = keras.layers.ReLU(name="cut")(h)
    model = keras.Model(inp, keras.layers.Dense(1, name="post")(h))
    model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse")
    return {"model": model, "x": tf.random.normal([16, 4], seed=20), "y": tf.ones([16, 1])}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=8, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "A ReLU layer whose inputs are all negative"
KIND = "zero"
MODE = "fit"
EXPECT = {"pre": "zero", "post/kernel": "zero", "post/bias": "ok"}
CAUSE = "The bias of -50 keeps every unit of the ReLU off."
CAUSE_LINE = 'h = keras.layers.ReLU(name="cut")(h)'
CAUSE_OP = "Relu"
REASONS = ["dead_activation"]
FIX = [("Constant(-50.0)", "Constant(0.5)")]
