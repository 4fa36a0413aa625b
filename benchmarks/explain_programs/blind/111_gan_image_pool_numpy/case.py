import numpy as np
import tensorflow as tf
import keras


class ImagePool:
    """History of generated samples, as in the CycleGAN paper."""

    def __init__(self, size, seed=0):
        self.size, self.items = size, []
        self.rng = np.random.default_rng(seed)

    def query(self, batch):
        out = []
        for item in np.array(batch):
            if len(self.items) < self.size:
                self.items.append(item)
                out.append(item)
            elif self.rng.uniform() > 0.5:
                i = self.rng.integers(self.size)
                out.append(self.items[i])
                self.items[i] = item
            else:
                out.append(item)
        return tf.stack(out)


def build():
    keras.utils.set_random_seed(111)
    gen = keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, activation="relu", name="g1"),
                            keras.layers.Dense(5, name="g2")])
    dis = keras.Sequential([keras.Input((5,)), keras.layers.Dense(8, activation="relu", name="c1"),
                            keras.layers.Dense(1, name="c2")])
    real = tf.random.stateless_normal([6, 5], [1, 11])
    return {"gen": gen, "dis": dis, "real": real, "pool": ImagePool(20), "t": 0}


def step(state):
    gen, dis = state["gen"], state["dis"]
    variables = gen.trainable_variables + dis.trainable_variables
    z = tf.random.stateless_normal([6, 3], [state["t"], 3])
    state["t"] += 1
    with tf.GradientTape(persistent=True) as tape:
        fake = state["pool"].query(gen(z))
        on_real, on_fake = dis(state["real"]), dis(fake)
        d_loss = tf.reduce_mean(tf.square(on_real - 1.0)) + tf.reduce_mean(tf.square(on_fake))
        g_loss = tf.reduce_mean(tf.square(on_fake - 1.0))
    grads = tape.gradient(g_loss, gen.trainable_variables) + tape.gradient(d_loss, dis.trainable_variables)
    del tape
    return grads, variables


# ---- answers ----
TITLE = "Image pool of a CycleGAN hands out NumPy copies to the generator loss too"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/42984"
KIND = "none"
MODE = "eager"
EXPECT = {"g1": "none", "g2": "none", "c1": "ok", "c2": "ok"}
CAUSE = "np.array(batch) leaves TensorFlow; the pool returns constants and the generator is cut off."
CAUSE_LINE = "for item in np.array(batch):"
CAUSE_OP = "numpy"
FIX = [("for item in np.array(batch):", "for item in tf.unstack(batch):")]
