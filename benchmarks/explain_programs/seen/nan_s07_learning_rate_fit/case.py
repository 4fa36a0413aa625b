import keras
import numpy as np


def build():
    keras.utils.set_random_seed(107)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, name="wide"), keras.layers.Dense(1, name="last")])
    model.compile(optimizer=keras.optimizers.SGD(learning_rate=40.0), loss="mse")
    rng = np.random.default_rng(7)
    x = rng.normal(size=(32, 4)).astype("float32")
    return {"model": model, "x": x, "y": x.sum(1, keepdims=True)}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=2, batch_size=4, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Learning rate far too high: the weights grow from step to step until they overflow"
KIND = "nan"
MODE = "fit"
EXPECT = {"wide": "nan", "last": "nan"}
CAUSE = "With a learning rate of 40 every step overshoots more than the one before; after a few steps float32 overflows."
CAUSE_LINE = "keras.optimizers.SGD(learning_rate=40.0)"
CAUSE_OP = "optimizer"
REASONS = ["diverged"]
FIX = [("learning_rate=40.0", "learning_rate=0.01")]
