import keras
import numpy as np


def build():
    keras.utils.set_random_seed(201)
    model = keras.Sequential([
        keras.Input((12, 10, 2)),
        keras.layers.Conv2D(6, 3, activation="relu", name="c1"),
        keras.layers.Conv2D(6, 3, activation="relu", name="c2"),
        keras.layers.Flatten(),
        keras.layers.Dense(1, activation="softmax", name="answer"),
    ])
    model.compile("adam", loss="mse", metrics=["accuracy"])
    rng = np.random.default_rng(201)
    return {"model": model, "x": rng.normal(size=(16, 12, 10, 2)).astype("float32"),
            "y": rng.integers(0, 2, (16, 1)).astype("float32")}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "CNN answers 'true' for everything: softmax over one unit"
SOURCE = "https://stats.stackexchange.com/questions/481881/convolutional-neural-network-fails-even-when-given-answer"
KIND = "zero"
MODE = "fit"
EXPECT = {"c1": "zero", "c2": "zero", "answer": "zero"}
CAUSE = "softmax over a single unit is always 1; its derivative is 0."
CAUSE_LINE = 'keras.layers.Dense(1, activation="softmax", name="answer")'
CAUSE_OP = "Softmax"
FIX = [('activation="softmax"', 'activation="sigmoid"')]
