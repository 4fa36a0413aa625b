import keras
import numpy as np


def dense(units, act, name):
    return keras.layers.Dense(units, activation=act, name=name, kernel_initializer="zeros")


def build():
    keras.utils.set_random_seed(206)
    model = keras.Sequential([keras.Input((11,)), dense(16, "tanh", "a"), dense(16, "tanh", "b"),
                              dense(1, None, "c")])
    model.compile(optimizer=keras.optimizers.SGD(0.01), loss="mse")
    rng = np.random.default_rng(206)
    return {"model": model, "x": rng.normal(size=(24, 11)).astype("float32"),
            "y": rng.normal(size=(24, 1)).astype("float32") + 3.0}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "All kernels start at zero: only the last bias learns"
SOURCE = "https://dennissxz.github.io/data-science-handbook/37-neural-networks/03-trainability.html"
KIND = "zero"
MODE = "fit"
EXPECT = {"a": "zero", "b": "zero", "c/kernel": "zero", "c/bias": "ok"}
CAUSE = "With zero kernels the activations are 0 and the gradient is multiplied by 0 weights on the way back."
CAUSE_LINE = 'return keras.layers.Dense(units, activation=act, name=name, kernel_initializer="zeros")'
CAUSE_OP = "MatMul"
FIX = [('kernel_initializer="zeros"', 'kernel_initializer="glorot_uniform"')]
