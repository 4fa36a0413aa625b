import keras
import numpy as np
import tensorflow as tf

CLASSES = 3


def macro_f1_loss(y_true, y_pred):
    labels = tf.reshape(tf.cast(y_true, tf.int64), [-1])
    guess = tf.argmax(y_pred, axis=-1)
    table = tf.math.confusion_matrix(labels, guess, num_classes=CLASSES, dtype=tf.float32)
    hit = tf.linalg.diag_part(table)
    f1 = 2.0 * hit / (tf.reduce_sum(table, 0) + tf.reduce_sum(table, 1) + 1e-6)
    return 1.0 - tf.reduce_mean(f1)


def build():
    keras.utils.set_random_seed(127)
    inp = keras.Input((20, 3))
    h = keras.layers.Conv1D(8, 3, activation="relu", name="conv")(inp)
    h = keras.layers.GlobalAveragePooling1D()(h)
    h = keras.layers.Dense(8, activation="relu", name="mid")(h)
    model = keras.Model(inp, keras.layers.Dense(CLASSES, activation="softmax", name="cls")(h))
    model.compile(optimizer="adam", loss=macro_f1_loss)
    rng = np.random.default_rng(127)
    return {"model": model, "x": rng.normal(size=(24, 20, 3)).astype("float32"), "y": rng.integers(0, 3, (24, 1))}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "F1 score from a confusion matrix as a loss"
SOURCE = "https://github.com/keras-team/keras/issues/11157"
KIND = "none"
MODE = "fit"
EXPECT = {"conv": "none", "mid": "none", "cls": "none"}
EXPECT_ERROR = "No gradients provided for any variable"
CAUSE = "argmax of the predictions; class numbers carry no gradient."
CAUSE_LINE = "guess = tf.argmax(y_pred, axis=-1)"
CAUSE_OP = "ArgMax"
FIX = [("    guess = tf.argmax(y_pred, axis=-1)\n", ""),
       ("tf.math.confusion_matrix(labels, guess, num_classes=CLASSES, dtype=tf.float32)", "tf.matmul(tf.one_hot(labels, CLASSES), y_pred, transpose_a=True)")]
