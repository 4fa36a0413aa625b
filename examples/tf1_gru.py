"""A TensorFlow 1 graph whose loss is NaN now and then.

A GRU reads a digit row by row and guesses its value, 0 to 9. The loss is `sqrt(squared_difference)`, the guess comes
out of a ReLU. When the guess for a zero is exactly 0, the root is taken at 0, where its derivative is infinite, and
infinity times the inner derivative 0 is NaN. The loss of that very step is still finite: it is the update that
carries the NaN into every weight, and the next loss that shows it. Clipping by the global norm cannot help: a NaN norm
makes every clipped gradient NaN.

As long-running programs do, the loop keeps the last good weights, goes back to them when the loss is NaN, and gives
up after some times.

    python examples/tf1_gru.py            # NaN now and then
    python examples/tf1_gru.py --fixed    # the absolute difference itself: never
"""

import argparse

import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

import tb_gradhealth

v1 = tf.compat.v1

BATCH, ROWS, COLUMNS, UNITS = 25, 8, 8, 24
PATIENCE = 3  # how often the loop goes back to the last good weights


def gru(images):
    """Hand-written GRU over the rows of the images [batch, 8, 8]: its last state [batch, UNITS]."""
    glorot = v1.glorot_uniform_initializer(seed=4)
    inputs = COLUMNS + UNITS
    gates = v1.get_variable("gru/gates", [inputs, 2 * UNITS], initializer=glorot)
    gates_bias = v1.get_variable("gru/gates_bias", [2 * UNITS], initializer=v1.zeros_initializer())
    candidate = v1.get_variable("gru/candidate", [inputs, UNITS], initializer=glorot)
    candidate_bias = v1.get_variable("gru/candidate_bias", [UNITS], initializer=v1.zeros_initializer())
    h = tf.zeros([tf.shape(images)[0], UNITS])
    for t in range(ROWS):
        x = images[:, t]
        both = tf.sigmoid(tf.matmul(tf.concat([x, h], axis=1), gates) + gates_bias)
        r, z = tf.split(both, 2, axis=1)
        c = tf.tanh(tf.matmul(tf.concat([x, r * h], axis=1), candidate) + candidate_bias)
        h = z * h + (1.0 - z) * c
    return h


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fixed", action="store_true", help="use the absolute difference as the loss")
    parser.add_argument("--log-dir", default="logs/tf1_gru")
    parser.add_argument("--steps", type=int, default=1000)
    args = parser.parse_args()

    digits = load_digits()
    data_x, data_y = digits.images.astype("float32") / 16.0, digits.target.astype("float32")
    rng = np.random.default_rng(4)

    with tf.Graph().as_default():
        v1.set_random_seed(4)
        images = v1.placeholder(tf.float32, [None, ROWS, COLUMNS], name="images")
        values = v1.placeholder(tf.float32, [None], name="values")
        weights = v1.get_variable(
            "guess/weights", [UNITS], initializer=v1.random_uniform_initializer(-0.5, 0.5, seed=5)
        )
        bias = v1.get_variable("guess/bias", [], initializer=v1.constant_initializer(4.5))  # the mean of the labels
        guess = tf.nn.relu(tf.reduce_sum(gru(images) * weights, axis=1) + bias)
        if args.fixed:
            loss = tf.reduce_mean(tf.sqrt(tf.math.squared_difference(guess, values) + 1e-6))
        else:
            loss = tf.reduce_mean(tf.sqrt(tf.math.squared_difference(guess, values)))

        optimizer = v1.train.GradientDescentOptimizer(0.2)
        gradients, variables = zip(*optimizer.compute_gradients(loss), strict=True)
        hook = tb_gradhealth.v1.GradHealthHook(args.log_dir, zip(gradients, variables, strict=True), loss=loss)
        clipped, _ = tf.clip_by_global_norm(gradients, 1.25)
        train_op = optimizer.apply_gradients(zip(clipped, variables, strict=True))

        restored = [v1.placeholder(v.dtype, v.shape) for v in variables]
        restore = [v1.assign(v, r) for v, r in zip(variables, restored, strict=True)]

        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            good, setbacks = session.run(variables), 0
            for step in range(args.steps):
                batch = rng.integers(0, len(data_x), BATCH)
                feed = {images: data_x[batch], values: data_y[batch]}
                value, _, rows = session.run([loss, train_op, hook.rows], feed)
                hook.record(rows)
                if np.isnan(value):
                    setbacks += 1
                    print(f"step {step:4d}  loss is NaN, for the {setbacks}. time", flush=True)
                    if setbacks > PATIENCE:
                        break
                    session.run(restore, dict(zip(restored, good, strict=True)))
                elif step % 50 == 0 or step == args.steps - 1:
                    print(f"step {step:4d}  loss {value:8.4f}", flush=True)
                    good = session.run(variables)
        hook.close()

    print(f"Logged to {args.log_dir}: tensorboard --logdir {args.log_dir}")


if __name__ == "__main__":
    main()
