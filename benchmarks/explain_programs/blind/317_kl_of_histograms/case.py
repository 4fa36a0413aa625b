import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(317)
    net = keras.Sequential([keras.Input((5,)), keras.layers.Dense(12, activation="relu", name="s1"),
                            keras.layers.Dense(4, name="s2")])
    rng = np.random.default_rng(317)
    x = tf.constant(rng.normal(size=(16, 5)), tf.float32)
    teacher = rng.dirichlet([0.5] * 4, 16).astype("float32")
    teacher[teacher < 0.02] = 0.0
    teacher = tf.constant(teacher / teacher.sum(1, keepdims=True))

    def kl(p, q):
        return tf.reduce_mean(tf.reduce_sum(q * tf.math.log(q / p), axis=-1))

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            student = tf.nn.softmax(net(x, training=True))
            loss = kl(teacher, student)
        return tape.gradient(loss, net.trainable_variables)

    return {"net": net, "train_step": train_step}


def step(state):
    return state["train_step"](), state["net"].trainable_variables


# ---- answers ----
TITLE = "Reverse KL distillation from a teacher with zero probabilities"
SOURCE = "https://github.com/AppliedDataSciencePartners/WorldModels/issues/9"
KIND = "nan"
MODE = "function"
EXPECT = {"s1": "nan", "s2": "nan"}
CAUSE = "q / p divides by a teacher probability of 0."
CAUSE_LINE = "return tf.reduce_mean(tf.reduce_sum(q * tf.math.log(q / p), axis=-1))"
CAUSE_OP = "RealDiv"
FIX = [("tf.math.log(q / p)", "tf.math.log(q / (p + 1e-4))")]
