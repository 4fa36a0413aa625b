import tensorflow as tf
import tf_keras


class Denoiser(tf_keras.Model):
    def __init__(self):
        super().__init__()
        self.down = tf_keras.layers.Dense(3, activation="relu", name="down")
        self.up = tf_keras.layers.Dense(5, name="up")

    def call(self, x, training=False):
        return self.up(self.down(x))

    def train_step(self, data):
        x, _ = data
        noisy = x + 0.1 * tf.random.normal(tf.shape(x))
        code = self.down(noisy)
        with tf.GradientTape() as tape:
            clean = self.up(code)
            loss = tf.reduce_mean(tf.square(clean - x))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


def build():
    tf_keras.utils.set_random_seed(18)
    model = Denoiser()
    model.compile(optimizer=tf_keras.optimizers.SGD(0.01))
    model(tf.zeros([1, 5]))
    return {"model": model, "x": tf.random.normal([8, 5], seed=19)}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["x"], epochs=1, batch_size=4, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
REQUIRES = "tf_keras"
TITLE = "tf_keras: half of a custom train_step runs before the tape is opened"
KIND = "none"
MODE = "fit"
EXPECT = {"down": "none", "up": "ok"}
CAUSE = "code is computed outside the tape."
CAUSE_LINE = "code = self.down(noisy)"
CAUSE_OP = "outside_tape"
REASONS = ["outside_tape"]
FIX = [("        code = self.down(noisy)\n", ""), ("clean = self.up(code)", "clean = self.up(self.down(noisy))")]
