import keras
import numpy as np
import tensorflow as tf


class LevelGain(keras.layers.Layer):
    def build(self, shape):
        self.level = self.add_weight(shape=(shape[-1],), initializer="ones", dtype="int32", name="level")
        self.mix = self.add_weight(shape=(shape[-1], 4), initializer="glorot_uniform", name="mix")

    def call(self, x):
        return tf.matmul(x * tf.cast(self.level, x.dtype), self.mix)


def build():
    keras.utils.set_random_seed(125)
    inp = keras.Input((8,))
    h = LevelGain(name="gain")(inp)
    model = keras.Model(inp, keras.layers.Dense(1, name="end")(h))
    model.compile(optimizer=keras.optimizers.SGD(0.05), loss="mse")
    rng = np.random.default_rng(25)
    return {"model": model, "x": rng.normal(size=(16, 8)).astype("float32"),
            "y": rng.normal(size=(16, 1)).astype("float32")}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "A layer weight of dtype int32"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/73631"
KIND = "none"
MODE = "fit"
EXPECT = {"level": "none", "mix": "ok", "end": "ok"}
EXPECT_LOG = "Gradients do not exist for variables"
CAUSE = "The weight 'level' is an int32 variable; integers are not differentiable."
CAUSE_LINE = 'initializer="ones", dtype="int32", name="level"'
CAUSE_OP = "VarHandleOp"
FIX = [('dtype="int32", name="level"', 'name="level"')]
