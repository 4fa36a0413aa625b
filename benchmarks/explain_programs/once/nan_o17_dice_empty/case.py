import keras
import tensorflow as tf


def dice(mask, p):
    both = tf.reduce_sum(mask * p, axis=[1, 2])
    return 1.0 - tf.reduce_mean(2.0 * both / (tf.reduce_sum(mask, axis=[1, 2]) + tf.reduce_sum(p, axis=[1, 2])))


def build():
    keras.utils.set_random_seed(217)
    conv = keras.layers.Conv2D(1, 3, padding="same", activation="relu", name="seg", bias_initializer=keras.initializers.Constant(0.01))
    conv.build((None, 4, 4, 1))
    conv.kernel.assign(tf.abs(conv.kernel))
    image = tf.concat([tf.ones([1, 4, 4, 1]), -5.0 * tf.ones([1, 4, 4, 1])], 0)
    mask = tf.concat([tf.ones([1, 4, 4]), tf.zeros([1, 4, 4])], 0)
    return {"conv": conv, "image": image, "mask": mask}


def step(state):
    conv = state["conv"]
    with tf.GradientTape() as tape:
        p = conv(state["image"])[..., 0]
        loss = dice(state["mask"], p)
    return tape.gradient(loss, conv.trainable_variables), conv.trainable_variables


# ---- answers ----
TITLE = "Dice loss on an image without the object, predicted as empty"
KIND = "nan"
MODE = "eager"
EXPECT = {"seg": "nan"}
CAUSE = "Mask and prediction are empty: 0 / 0."
CAUSE_LINE = "return 1.0 - tf.reduce_mean(2.0 * both / (tf.reduce_sum(mask, axis=[1, 2]) + tf.reduce_sum(p, axis=[1, 2])))"
CAUSE_OP = "RealDiv"
REASONS = ["division_by_zero"]
FIX = [("tf.reduce_sum(p, axis=[1, 2])))", "tf.reduce_sum(p, axis=[1, 2]) + 1.0))")]
