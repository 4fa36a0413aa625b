import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(207)
    net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(6, activation="relu", name="h"), keras.layers.Dense(1, name="o")])
    x = 10.0 * tf.random.normal([16, 3], seed=2)
    y = tf.reduce_sum(x, 1, keepdims=True)
    opt = keras.optimizers.SGD(learning_rate=5.0)
    return {"net": net, "x": x, "y": y, "opt": opt}


def step(state):
    net = state["net"]
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(state["x"]) - state["y"]))
    grads = tape.gradient(loss, net.trainable_variables)
    state["opt"].apply_gradients(zip(grads, net.trainable_variables))
    state["last_loss"] = float(loss)
    return grads, net.trainable_variables


# ---- answers ----
TITLE = "Custom loop whose learning rate is far too high"
KIND = "nan"
MODE = "eager"
STEPS = 6
EXPECT_FIRST = {"h": "ok", "o": "ok"}
EXPECT = {"h": "nan", "o": "nan"}
CAUSE = "The weights overshoot further at every step until they overflow."
CAUSE_LINE = "opt = keras.optimizers.SGD(learning_rate=5.0)"
CAUSE_OP = "optimizer"
REASONS = ["diverged"]
FIX = [("learning_rate=5.0", "learning_rate=0.0001")]
