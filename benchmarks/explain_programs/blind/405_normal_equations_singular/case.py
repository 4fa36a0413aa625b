import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(405)
    net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, activation="tanh", name="basis",
                                                                  kernel_initializer="ones")])
    rng = np.random.default_rng(405)
    x = tf.constant(rng.normal(size=(30, 3)), tf.float32)
    y = tf.constant(rng.normal(size=(30, 1)), tf.float32)

    def fit_head(phi):
        gram = tf.matmul(phi, phi, transpose_a=True)
        return tf.linalg.solve(gram, tf.matmul(phi, y, transpose_a=True))

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            phi = net(x, training=True)
            loss = tf.reduce_mean(tf.square(tf.matmul(phi, fit_head(phi)) - y))
        return tape.gradient(loss, net.trainable_variables)

    return {"net": net, "train_step": train_step}


def step(state):
    return state["train_step"](), state["net"].trainable_variables


# ---- answers ----
TITLE = "Closed-form head on four equal basis functions"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/38416"
KIND = "error"
MODE = "function"
EXPECT = {}
EXPECT_ERROR = "not invertible"
CAUSE = "All columns of phi are equal, so the Gram matrix is singular and MatrixSolve raises."
CAUSE_LINE = "return tf.linalg.solve(gram, tf.matmul(phi, y, transpose_a=True))"
CAUSE_OP = "MatrixSolve"
FIX = [('kernel_initializer="ones"', 'kernel_initializer="glorot_uniform"')]
