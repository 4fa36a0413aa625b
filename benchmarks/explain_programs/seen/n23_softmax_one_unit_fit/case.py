import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(23)
    model = keras.Sequential(
        [
            keras.Input((4,)),
            keras.layers.Dense(6, activation="relu", name="hidden"),
            keras.layers.Dense(1, activation="softmax", name="answer"),
        ]
    )
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
    x = tf.random.normal([12, 4], seed=24)
    return {"model": model, "x": x, "y": tf.cast(x[:, :1] > 0.0, tf.float32)}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=4, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "softmax over a single output unit"
KIND = "zero"
MODE = "fit"
EXPECT = {"hidden": "zero", "answer": "zero"}
CAUSE = "softmax of one number is always 1, its derivative 0; a sigmoid is meant."
CAUSE_LINE = 'keras.layers.Dense(1, activation="softmax", name="answer")'
CAUSE_OP = "Softmax"
REASONS = ["softmax_one_unit"]
FIX = [('activation="softmax"', 'activation="sigmoid"')]
