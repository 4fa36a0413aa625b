import keras
import numpy as np
import tensorflow as tf


class VAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.enc = keras.layers.Dense(8, activation="relu", name="enc")
        self.mean = keras.layers.Dense(2, name="mean")
        self.logvar = keras.layers.Dense(2, name="logvar")
        self.dec = keras.layers.Dense(6, name="dec")

    def call(self, x):
        h = self.enc(x)
        return self.mean(h), self.logvar(h)

    def train_step(self, data):
        x = data[0] if isinstance(data, tuple) else data
        with tf.GradientTape() as tape:
            mean, logvar = self(x)
            z = mean + 0.1 * tf.ones_like(mean)
            recon = tf.reduce_mean(tf.square(self.dec(z) - x))
            kl = -0.5 * tf.reduce_mean(1.0 + logvar - tf.square(mean) - tf.exp(logvar))
            loss = recon + kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


def build():
    keras.utils.set_random_seed(118)
    model = VAE()
    model.compile(optimizer=keras.optimizers.Adam(1e-3))
    x = (np.random.default_rng(2).uniform(size=(4, 6)) * 5000).astype("float32")
    model(x)
    model.dec(np.zeros((1, 2), "float32"))
    return {"model": model, "x": x}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], epochs=1, batch_size=4, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "VAE on unscaled data: exp(logvar) overflows in the KL term"
KIND = "nan"
MODE = "fit"
EXPECT = {"enc": "nan", "logvar": "inf", "logvar/kernel": "nan", "mean": "ok", "dec": "ok"}
CAUSE = "The inputs are thousands, so logvar is far above 88 and exp(logvar) is Inf."
CAUSE_LINE = "kl = -0.5 * tf.reduce_mean(1.0 + logvar - tf.square(mean) - tf.exp(logvar))"
CAUSE_OP = "Exp"
REASONS = ["exp_overflow"]
FIX = [("(size=(4, 6)) * 5000)", "(size=(4, 6)) * 1.0)")]
