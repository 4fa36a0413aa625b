import keras
import numpy as np
import tensorflow as tf


def angular_error(y_true, y_pred):
    cosine = tf.reduce_sum(tf.math.l2_normalize(y_true, -1) * tf.math.l2_normalize(y_pred, -1), axis=-1)
    angle = tf.acos(tf.clip_by_value(cosine, -1.0, 1.0))
    return tf.reduce_mean(angle)


def build():
    keras.utils.set_random_seed(201)
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, use_bias=False, name="gaze", kernel_initializer=keras.initializers.Identity())])
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=angular_error)
    x = np.array([[0.0, 2.0, 0.0], [0.2, 0.3, 0.4]], "float32")
    y = np.array([[0.0, 5.0], [0.1, 1.0]], "float32")  # the first prediction points exactly the right way
    return {"model": model, "x": x, "y": y}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=2, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Angular error of a prediction that is exactly right: acos at 1"
KIND = "nan"
MODE = "fit"
EXPECT = {"gaze": "nan"}
CAUSE = "acos has an infinite derivative at 1."
CAUSE_LINE = "angle = tf.acos(tf.clip_by_value(cosine, -1.0, 1.0))"
CAUSE_OP = "Acos"
REASONS = ["derivative_of_arcus_at_end"]
FIX = [("-1.0, 1.0))", "-1.0 + 1e-6, 1.0 - 1e-6))")]
