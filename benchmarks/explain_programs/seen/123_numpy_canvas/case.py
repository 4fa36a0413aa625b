import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(123)
    net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu", name="p1"),
                            keras.layers.Dense(9, activation="sigmoid", name="p2")])
    target = np.zeros((6, 6), "float32")
    target[1:4, 2:5] = 1.0
    return {"net": net, "z": tf.random.stateless_normal([4, 4], [23, 4]), "target": target}


def paste(patches):
    canvas = np.zeros((6, 6), "float32")
    spots = [(0, 0), (0, 3), (3, 0), (3, 3)]
    for k, (r, c) in enumerate(spots):
        canvas[r:r + 3, c:c + 3] = tf.reshape(patches[k], [3, 3])
    return tf.convert_to_tensor(canvas)


def step(state):
    net = state["net"]
    with tf.GradientTape() as tape:
        picture = paste(net(state["z"]))
        loss = tf.reduce_mean(tf.square(picture - state["target"]))
    return tape.gradient(loss, net.trainable_variables), net.trainable_variables


# ---- answers ----
TITLE = "Patches are pasted into a NumPy canvas"
SOURCE = "https://worldofsoftware.org/debugging-disconnected-gradients-in-tensorflow-step-by-step-hackernoon/"
KIND = "none"
MODE = "eager"
EXPECT = {"p1": "none", "p2": "none"}
CAUSE = "Assigning a tensor into a NumPy array copies its value; the canvas is a constant."
CAUSE_LINE = "canvas[r:r + 3, c:c + 3] = tf.reshape(patches[k], [3, 3])"
CAUSE_OP = "numpy"
FIX = [("    canvas = np.zeros((6, 6), \"float32\")\n", "    canvas = tf.zeros((6, 6))\n"),
       ("canvas[r:r + 3, c:c + 3] = tf.reshape(patches[k], [3, 3])", "canvas += tf.pad(tf.reshape(patches[k], [3, 3]), [[r, 3 - r], [c, 3 - c]])")]
