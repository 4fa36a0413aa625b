import keras
import numpy as np


def build():
    keras.utils.set_random_seed(213)
    inp = keras.Input((3,), name="features")
    h = keras.layers.Dense(4, activation="relu", name="first", bias_initializer=keras.initializers.Constant(-50.0))(inp)
    h = keras.layers.BatchNormalization(epsilon=0.0, name="bn")(h)
    out = keras.layers.Dense(1, name="last")(h)
    model = keras.Model(inp, out)
    model.compile(optimizer=keras.optimizers.Adam(), loss="mse", jit_compile=False)
    x = np.random.default_rng(3).normal(size=(8, 3)).astype("float32")
    return {"model": model, "x": x, "y": x[:, :1]}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=8, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Batch normalisation with epsilon 0 behind dead units"
KIND = "nan"
MODE = "fit"
EXPECT = {"first": "nan", "bn": "nan", "last/kernel": "nan", "last/bias": "nan", "last": "nan"}
CAUSE = "The units are all off, so their variance is 0, and 1 / sqrt(0 + epsilon) is Inf for epsilon 0."
CAUSE_LINE = 'h = keras.layers.BatchNormalization(epsilon=0.0, name="bn")(h)'
CAUSE_OP = "Rsqrt"
REASONS = ["division_by_zero", "derivative_of_rsqrt_at_zero"]
FIX = [("epsilon=0.0, ", ""), ("Constant(-50.0)", "Constant(0.5)")]
