import keras
import numpy as np


def build():
    keras.utils.set_random_seed(208)
    inp = keras.Input((4,))
    h = keras.layers.Dense(8, activation="tanh", name="squash")(inp)
    h = keras.layers.Dense(8, activation="tanh", name="mid")(h)
    model = keras.Model(inp, keras.layers.Dense(1, name="pred")(h))
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")
    rng = np.random.default_rng(208)
    x = (30000 + 500 * rng.normal(size=(32, 4))).astype("float32")
    return {"model": model, "x": x, "y": rng.normal(size=(32, 1)).astype("float32")}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Raw bitcoin prices go into a tanh layer"
SOURCE = "https://blockgeni.com/tutorial-on-visualizing-the-vanishing-gradient-problem/"
KIND = "zero"
MODE = "fit"
EXPECT = {"squash": "zero", "mid": "ok", "pred": "ok"}
CAUSE = "With inputs of 30000 every tanh unit is exactly +-1 in float32, its derivative 1 - y^2 is 0."
CAUSE_LINE = 'keras.layers.Dense(8, activation="tanh", name="squash")(inp)'
CAUSE_OP = "Tanh"
FIX = [("x = (30000 + 500 * rng.normal(size=(32, 4))).astype", "x = (rng.normal(size=(32, 4))).astype")]
