import keras
import tensorflow as tf


def smooth_l1(y_true, y_pred):
    diff = tf.abs(y_true - y_true)
    return tf.reduce_mean(tf.where(diff < 1.0, 0.5 * diff * diff, diff - 0.5), axis=-1)


def build():
    keras.utils.set_random_seed(34)
    model = keras.Sequential(
        [keras.Input((3,)), keras.layers.Dense(4, activation="elu", name="one"), keras.layers.Dense(1, name="two")]
    )
    model.compile(optimizer="adam", loss=smooth_l1)
    return {"model": model, "x": tf.random.normal([8, 3], seed=35), "y": tf.random.normal([8, 1], seed=36)}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=4, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "The loss compares the labels with themselves"
KIND = "none"
MODE = "fit"
EXPECT = {"one": "none", "two": "none"}
EXPECT_ERROR = "No gradients provided for any variable"
CAUSE = "y_pred does not occur in the loss function."
CAUSE_LINE = "diff = tf.abs(y_true - y_true)"
CAUSE_OP = "unused"
REASONS = ["thrown_away", "constant_loss"]
FIX = [("tf.abs(y_true - y_true)", "tf.abs(y_true - y_pred)")]
