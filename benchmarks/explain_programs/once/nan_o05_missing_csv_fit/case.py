import io

import keras
import numpy as np

TABLE = """1.0,0.5,3
2.0,,4
0.5,0.1,1
1.5,0.7,2
"""


def build():
    keras.utils.set_random_seed(205)
    rows = np.genfromtxt(io.StringIO(TABLE), delimiter=",", dtype="float32")
    features, target = rows[:, :2], rows[:, 2:]
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3, activation="tanh", name="a"), keras.layers.Dense(1, name="b")])
    model.compile(optimizer="sgd", loss="mae")
    return {"model": model, "features": features, "target": target}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["features"], state["target"], epochs=1, batch_size=4, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "A CSV file with an empty field"
KIND = "nan"
MODE = "fit"
EXPECT = {"a": "nan", "b": "nan"}
CAUSE = "The second row's second field is empty and is read as NaN."
CAUSE_LINE = "rows = np.genfromtxt("
CAUSE_OP = "input"
REASONS = ["bad_input"]
FIX = [("2.0,,4", "2.0,0.4,4")]
