import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(128)
    dec = keras.Sequential([keras.Input((5,)), keras.layers.Dense(36, activation="relu", name="fc"),
                            keras.layers.Reshape((6, 6, 1)),
                            keras.layers.Conv2DTranspose(3, 3, strides=2, padding="same", activation="sigmoid",
                                                         name="paint")])
    z = tf.random.stateless_normal([4, 5], [28, 2])
    ref = tf.random.stateless_uniform([4, 12, 12, 3], [28, 3])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            frame = dec(z, training=True)
            shown = tf.image.convert_image_dtype(frame, tf.uint8, saturate=True)
            back = tf.image.convert_image_dtype(shown, tf.float32)
            loss = 1.0 - tf.reduce_mean(tf.image.ssim(back, ref, max_val=1.0, filter_size=5))
        return tape.gradient(loss, dec.trainable_variables)

    return {"dec": dec, "train_step": train_step}


def step(state):
    return state["train_step"](), state["dec"].trainable_variables


# ---- answers ----
TITLE = "SSIM on frames that went through uint8"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/1511"
KIND = "none"
MODE = "function"
EXPECT = {"fc": "none", "paint": "none"}
CAUSE = "Converting to uint8 is an integer cast; it has no gradient."
CAUSE_LINE = "shown = tf.image.convert_image_dtype(frame, tf.uint8, saturate=True)"
CAUSE_OP = "Cast"
FIX = [("shown = tf.image.convert_image_dtype(frame, tf.uint8, saturate=True)", "shown = frame"),
       ("back = tf.image.convert_image_dtype(shown, tf.float32)", "back = shown")]
