"""A variational auto-encoder whose recurrent decoder gets no gradient at all.

The decoder draws a digit row by row and stores each row in a `tf.Variable` by slice assignment. An assignment has no
gradient: whatever is computed from the variable afterwards is, to the tape, computed from a constant. The
reconstruction term is cut off from every weight; the encoder is kept alive by the KL term alone.

    python examples/vae_recurrent_decoder.py            # decoder None from step 0 on
    python examples/vae_recurrent_decoder.py --fixed    # rows gathered in a list and stacked: everything learns
"""

import argparse

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

import tb_gradhealth

BATCH, ROWS, COLUMNS = 64, 8, 8
LATENT, UNITS = 6, 32


class RecurrentVAE(keras.Model):
    def __init__(self, fixed):
        super().__init__(name="vae")
        self.read = keras.layers.GRU(UNITS, name="encoder_read")
        self.mean = keras.layers.Dense(LATENT, name="encoder_mean")
        self.log_variance = keras.layers.Dense(LATENT, name="encoder_log_variance")
        self.start = keras.layers.Dense(UNITS, activation="tanh", name="decoder_start")
        self.cell = keras.layers.GRUCell(UNITS, name="decoder_cell")
        self.draw = keras.layers.Dense(COLUMNS, activation="sigmoid", name="decoder_draw")
        self.canvas = tf.Variable(tf.zeros([BATCH, ROWS, COLUMNS]), trainable=False, name="canvas")
        self.fixed = fixed

    def encode(self, images):
        """Images [batch, 8, 8] -> mean and log-variance of the code, each [batch, LATENT]."""
        h = self.read(images)
        return self.mean(h), self.log_variance(h)

    def decode(self, code):
        """A code [batch, LATENT] -> an image [batch, 8, 8], drawn row by row."""
        h, row, rows = self.start(code), tf.zeros([BATCH, COLUMNS]), []
        for t in range(ROWS):
            h, _ = self.cell(row, [h])
            row = self.draw(h)
            if self.fixed:
                rows.append(row)
            else:
                self.canvas[:, t].assign(row)
        return tf.stack(rows, axis=1) if self.fixed else self.canvas

    def call(self, images):
        mean, log_variance = self.encode(images)
        code = mean + tf.exp(0.5 * log_variance) * tf.random.normal([BATCH, LATENT])
        return self.decode(code), mean, log_variance


def negative_elbo(images, drawn, mean, log_variance):
    """Squared error of the drawing plus the KL divergence of the code from a standard normal, mean over the batch."""
    error = tf.reduce_sum(tf.square(drawn - images), axis=[1, 2])
    divergence = -0.5 * tf.reduce_sum(1.0 + log_variance - tf.square(mean) - tf.exp(log_variance), axis=1)
    return tf.reduce_mean(error + 0.1 * divergence)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fixed", action="store_true", help="gather the rows in a list instead of a variable")
    parser.add_argument("--log-dir", default="logs/vae_recurrent_decoder")
    parser.add_argument("--steps", type=int, default=300)
    args = parser.parse_args()

    keras.utils.set_random_seed(2)
    images = load_digits().images.astype("float32") / 16.0
    rng = np.random.default_rng(2)
    model = RecurrentVAE(args.fixed)
    model(images[:BATCH])  # creates the weights
    optimizer = tb_gradhealth.watch(keras.optimizers.Adam(3e-3), args.log_dir)

    @tf.function
    def train_step(batch):
        with tf.GradientTape() as tape:
            loss = negative_elbo(batch, *model(batch))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    for step in range(args.steps):
        loss = train_step(images[rng.integers(0, len(images), BATCH)])
        if step % 50 == 0 or step == args.steps - 1:
            print(f"step {step:4d}  loss {float(loss):8.3f}", flush=True)

    print(f"Logged to {args.log_dir}: tensorboard --logdir {args.log_dir}")


if __name__ == "__main__":
    main()
