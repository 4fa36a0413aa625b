import numpy as np
import tensorflow as tf
import tf_keras


def likelihood_loss(y_true, y_pred):
    p = tf.clip_by_value(y_pred, 0.0, 1.0)
    return -tf.reduce_mean(y_true * tf.math.log(p) + (1.0 - y_true) * tf.math.log(1.0 - p))


def build():
    tf_keras.utils.set_random_seed(109)
    model = tf_keras.Sequential([
        tf_keras.layers.InputLayer((2,)),
        tf_keras.layers.Dense(1, name="logit", kernel_initializer=tf_keras.initializers.Constant(0.5)),
    ])
    model.compile(optimizer=tf_keras.optimizers.SGD(0.01), loss=likelihood_loss)
    return {"model": model, "x": np.array([[0.1, 0.1], [1.0, 1.0]], "float32"), "y": np.array([[0.0], [1.0]], "float32")}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=2, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Binary cross-entropy by hand on a clipped linear output (tf_keras)"
REQUIRES = "tf_keras"
KIND = "nan"
MODE = "fit"
EXPECT = {"logit": "nan"}
CAUSE = "The prediction is clipped to exactly 1, and (1 - y) * log(1 - p) is 0 * -Inf."
CAUSE_LINE = "return -tf.reduce_mean(y_true * tf.math.log(p) + (1.0 - y_true) * tf.math.log(1.0 - p))"
CAUSE_OP = "Log"
REASONS = ["log_of_zero", "derivative_of_log_at_zero"]
FIX = [("tf.clip_by_value(y_pred, 0.0, 1.0)", "tf.sigmoid(y_pred)")]
