import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(33)
    cell = keras.layers.Dense(2, activation="tanh", name="cell")
    out = keras.layers.Dense(1, name="out")
    cell.build((None, 4))
    out.build((None, 2))
    variables = cell.trainable_variables + out.trainable_variables

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            h = tf.zeros([3, 2])
            frames = tf.TensorArray(tf.float32, size=5, element_shape=[3, 2])
            for t in tf.range(5):
                h = cell(tf.concat([x[:, t], h], 1))
                frames.write(t, h)
            track = tf.reduce_mean(frames.stack(), 0)
            loss = tf.reduce_mean(tf.square(out(track) - 1.0))
        return tape.gradient(loss, variables)

    return {"variables": variables, "train_step": train_step, "x": tf.random.normal([3, 5, 2], seed=34)}


def step(state):
    return state["train_step"](state["x"]), state["variables"]


# ---- answers ----
TITLE = "TensorArray.write in an AutoGraph loop, result dropped"
KIND = "none"
MODE = "function"
EXPECT = {"cell": "none", "out/kernel": "zero", "out/bias": "ok"}
CAUSE = "In a graph write returns a new array; without frames = frames.write(...) the array stays empty."
CAUSE_LINE = "frames.write(t, h)"
CAUSE_OP = "TensorListSetItem"
REASONS = ["tensor_array_dropped"]
FIX = [("                frames.write(t, h)", "                frames = frames.write(t, h)")]
