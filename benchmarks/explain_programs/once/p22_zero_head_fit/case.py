import keras
import tensorflow as tf


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.trunk = keras.layers.Dense(5, activation="tanh", name="trunk")
        self.head = keras.layers.Dense(1, kernel_initializer=keras.initializers.Zeros(), name="head")

    def call(self, x):
        return self.head(self.trunk(x))


def build():
    keras.utils.set_random_seed(22)
    model = Net()
    model.compile(optimizer=keras.optimizers.SGD(0.0), loss="mse")
    return {"model": model, "x": tf.random.normal([8, 3], seed=23), "y": tf.ones([8, 1])}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=8, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "The head starts at zero, the trunk gets nothing"
KIND = "zero"
MODE = "fit"
EXPECT = {"trunk": "zero", "head": "ok"}
CAUSE = "The gradient of the trunk is multiplied by the head's kernel of zeros."
CAUSE_LINE = 'self.head = keras.layers.Dense(1, kernel_initializer=keras.initializers.Zeros(), name="head")'
CAUSE_OP = "MatMul"
REASONS = ["zero_weights"]
FIX = [("kernel_initializer=keras.initializers.Zeros(), ", "")]
