import io
import keras
import numpy as np

CSV = "\n".join(f"{20 + i % 17},{(3 + i * 7) % 11},{'' if i == 53 else (i * 13) % 29}" for i in range(64))


def load():
    table = np.genfromtxt(io.StringIO(CSV), delimiter=",", dtype="float32")
    table = table / np.array([40.0, 11.0, 29.0], "float32")
    return table, (table[:, :1] * 2 - 0.3)


def build():
    keras.utils.set_random_seed(325)
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, activation="tanh", name="u"),
                              keras.layers.Dense(1, name="v")])
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")
    x, y = load()
    return {"model": model, "x": x, "y": y}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "A blank cell in the CSV file"
SOURCE = "https://github.com/keras-team/keras/issues/12371"
KIND = "nan"
MODE = "fit"
EXPECT_FIRST = {"u": "ok", "v": "ok"}
EXPECT = {"u": "nan", "v": "nan"}
CAUSE = "The seventh batch holds a NaN in column 2: genfromtxt reads the blank cell as NaN."
CAUSE_LINE = 'table = np.genfromtxt(io.StringIO(CSV), delimiter=",", dtype="float32")'
CAUSE_OP = "input"
FIX = [('table = np.genfromtxt(io.StringIO(CSV), delimiter=",", dtype="float32")', 'table = np.nan_to_num(np.genfromtxt(io.StringIO(CSV), delimiter=",", dtype="float32"))')]
