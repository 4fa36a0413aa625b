"""An encoder-decoder of hand-written GRU cells whose encoder quietly never learns.

The encoder reads 120 characters of English, the decoder writes the next six. Every weight starts as
`tf.random.normal` gives it, with a standard deviation of 1. The forward pass stays bounded (tanh, sigmoid), so the
loss is finite; on the way back every character multiplies the gradient by a matrix that is far too large, and after
120 of them it has left float32: the encoder's gradients are NaN at every step, the decoder's are fine.

Like many programs that met NaNs once, the loop replaces them by zeros. So the decoder learns, the loss falls, and
nothing says that the encoder does not take part.

    python examples/seq2seq_gru.py            # encoder NaN from step 0 on
    python examples/seq2seq_gru.py --fixed    # weights scaled by the number of inputs: everything learns
"""

import argparse
from pydoc_data.topics import topics

import keras
import numpy as np
import tensorflow as tf

import tb_gradhealth

UNITS = 128
READ, WRITE = 120, 6  # characters
BATCH = 8


def english():
    """The help texts of Python itself: int array [characters], and the number of different characters."""
    text = "\n".join(topics[name] for name in sorted(topics)).lower()
    alphabet = sorted(set(text))
    number = {character: i for i, character in enumerate(alphabet)}
    return np.array([number[character] for character in text]), len(alphabet)


class HandwrittenGRU:
    """One GRU cell, written out: an update gate, a reset gate and a candidate, each one matrix and one bias."""

    def __init__(self, inputs, units, name, new_weights):
        rows = inputs + units
        self.update = tf.Variable(new_weights(rows, units), name=f"{name}/update")
        self.reset = tf.Variable(new_weights(rows, units), name=f"{name}/reset")
        self.candidate = tf.Variable(new_weights(rows, units), name=f"{name}/candidate")
        self.bias = tf.Variable(tf.zeros([3, units]), name=f"{name}/bias")
        self.variables = [self.update, self.reset, self.candidate, self.bias]

    def __call__(self, x, h):
        seen = tf.concat([x, h], axis=1)
        z = tf.sigmoid(seen @ self.update + self.bias[0])
        r = tf.sigmoid(seen @ self.reset + self.bias[1])
        c = tf.tanh(tf.concat([x, r * h], axis=1) @ self.candidate + self.bias[2])
        return z * h + (1.0 - z) * c


class Seq2Seq:
    def __init__(self, symbols, new_weights):
        self.encoder = HandwrittenGRU(symbols, UNITS, "encoder", new_weights)
        self.decoder = HandwrittenGRU(symbols, UNITS, "decoder", new_weights)
        self.output = tf.Variable(new_weights(UNITS, symbols), name="decoder/output")
        self.variables = [*self.encoder.variables, *self.decoder.variables, self.output]

    def loss(self, characters):
        """Cross-entropy, summed over the written characters. `characters`: one-hot [batch, READ + WRITE, symbols]."""
        h = tf.zeros([BATCH, UNITS])
        for t in range(READ):
            h = self.encoder(characters[:, t], h)
        loss, previous = 0.0, characters[:, READ - 1]
        for t in range(READ, READ + WRITE):
            h = self.decoder(previous, h)
            step_loss = tf.nn.softmax_cross_entropy_with_logits(characters[:, t], h @ self.output)
            loss += tf.reduce_mean(step_loss)
            previous = characters[:, t]  # teacher forcing
        return loss


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fixed", action="store_true", help="scale the first weights by the number of inputs")
    parser.add_argument("--log-dir", default="logs/seq2seq_gru")
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()

    keras.utils.set_random_seed(1)
    rng = np.random.default_rng(1)
    text, symbols = english()

    def unscaled(rows, columns):
        return tf.random.normal([rows, columns])

    def scaled(rows, columns):
        return tf.random.normal([rows, columns], stddev=rows**-0.5)

    model = Seq2Seq(symbols, scaled if args.fixed else unscaled)
    optimizer = keras.optimizers.Adam(0.03)

    with tb_gradhealth.GradHealthWriter(args.log_dir) as writer:
        for step in range(args.steps):
            starts = rng.integers(0, len(text) - READ - WRITE, BATCH)
            characters = tf.one_hot(np.stack([text[s : s + READ + WRITE] for s in starts]), symbols)
            with tf.GradientTape() as tape:
                loss = model.loss(characters)
            gradients = tape.gradient(loss, model.variables)
            writer.record(gradients, model.variables, step=step, loss=loss)

            finite = [tf.where(tf.math.is_finite(g), g, 0.0) for g in gradients]  # the plaster
            optimizer.apply_gradients(zip(finite, model.variables, strict=True))
            if step % 10 == 0 or step == args.steps - 1:
                print(f"step {step:4d}  loss {float(loss):8.3f}", flush=True)

    print(f"Logged to {args.log_dir}: tensorboard --logdir {args.log_dir}")


if __name__ == "__main__":
    main()
