import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(330)
    net = keras.Sequential([keras.Input((8, 8, 1)), keras.layers.Conv2D(4, 3, padding="same", activation="relu", name="c1"),
                            keras.layers.Conv2D(1, 3, padding="same", activation="relu", use_bias=False, name="c2")])
    rng = np.random.default_rng(330)
    x = rng.uniform(0, 1, (6, 8, 8, 1)).astype("float32")
    m = (x > 0.6).astype("float32")
    x[3] = m[3] = 0.0
    x, m = tf.constant(x), tf.constant(m)
    opt = keras.optimizers.Adam(1e-3)

    def iou_loss(y, p):
        p = tf.minimum(p, 1.0)
        inter = tf.reduce_sum(y * p, axis=[1, 2, 3])
        union = tf.reduce_sum(y + p - y * p, axis=[1, 2, 3])
        return 1.0 - tf.reduce_mean(inter / union)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            loss = iou_loss(m, net(x, training=True))
        grads = tape.gradient(loss, net.trainable_variables)
        opt.apply(grads, net.trainable_variables)
        return grads

    return {"net": net, "train_step": train_step}


def step(state):
    return state["train_step"](), state["net"].trainable_variables


# ---- answers ----
TITLE = "IoU loss of an empty mask with an empty prediction"
SOURCE = "https://github.com/Socret360/object-detection-in-keras/issues/20"
KIND = "nan"
MODE = "function"
EXPECT = {"c1": "nan", "c2": "nan"}
CAUSE = "intersection and union are both 0 for the empty picture: 0 / 0."
CAUSE_LINE = "return 1.0 - tf.reduce_mean(inter / union)"
CAUSE_OP = "RealDiv"
FIX = [("inter / union", "(inter + 1e-3) / (union + 1e-3)")]
