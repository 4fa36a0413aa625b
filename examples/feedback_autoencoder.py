"""A feedback auto-encoder, trained with `model.fit`, that Keras refuses to train.

The coder squeezes a digit row by row into a few numbers; what it remembers of the rows before is fed back into it. Two
faults stand in `call`:

* The result of `TensorArray.write` is dropped. Inside `fit` the model runs as a graph, where `write` returns a new
  array and leaves the old one as it was: what is read at the end depends on no weight. Keras: "No gradients provided
  for any variable".
* The memory is kept as a tensor on `self`. The tensor belongs to the graph in which it was made and outlives it, and
  the next graph may not use it: "out of scope". Keras 3 builds the model in one graph and trains it in another, so
  this comes before any gradient; the older Keras meets the dropped write first.

    python examples/feedback_autoencoder.py --keras 2                  # both faults: all None
    python examples/feedback_autoencoder.py --keras 3                  # both faults: out of scope comes first
    python examples/feedback_autoencoder.py --keras 3 --fault write    # the memory mended: all None
    python examples/feedback_autoencoder.py --keras 3 --fault state    # the write mended: out of scope
    python examples/feedback_autoencoder.py --keras 3 --fixed          # both mended: everything learns
"""

import argparse
import importlib

import tensorflow as tf
from sklearn.datasets import load_digits

import tb_gradhealth

ROWS, COLUMNS = 8, 8
CODE, MEMORY = 3, 24
BATCH = 32


def feedback_coder(keras, drop_write, keep_state):
    """The model, made with one of the two generations of Keras."""

    class FeedbackCoder(keras.Model):
        def __init__(self):
            super().__init__()
            self.squeeze = keras.layers.Dense(CODE, activation="tanh", name="squeeze")
            self.memory = keras.layers.GRUCell(MEMORY, name="memory")
            self.expand = keras.layers.Dense(COLUMNS, activation="sigmoid", name="expand")
            self.state = tf.zeros([BATCH, MEMORY])

        def call(self, images):
            state = self.state if keep_state else tf.zeros([BATCH, MEMORY])
            decoded = tf.TensorArray(tf.float32, size=ROWS, element_shape=[BATCH, COLUMNS])
            for t in range(ROWS):
                code = self.squeeze(tf.concat([images[:, t], state], axis=1))
                state, _ = self.memory(code, [state])
                row = self.expand(state)
                if drop_write:
                    decoded.write(t, row)
                else:
                    decoded = decoded.write(t, row)
            if keep_state:
                self.state = state
            return tf.transpose(decoded.stack(), [1, 0, 2])

    return FeedbackCoder()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keras", type=int, choices=[2, 3], default=3, help="2: the package tf_keras; 3: keras")
    parser.add_argument("--fault", choices=["both", "write", "state"], default="both", help="the faults to keep")
    parser.add_argument("--fixed", action="store_true", help="mend both faults")
    parser.add_argument("--log-dir", default="logs/feedback_autoencoder")
    parser.add_argument("--steps", type=int, default=300)
    args = parser.parse_args()

    keras = importlib.import_module("tf_keras" if args.keras == 2 else "keras")
    keras.utils.set_random_seed(5)
    images = load_digits().images.astype("float32") / 16.0
    rows = tf.data.Dataset.from_tensor_slices((images, images)).shuffle(len(images), seed=5).repeat()
    batches = rows.batch(BATCH, drop_remainder=True).take(args.steps)

    model = feedback_coder(
        keras,
        drop_write=not args.fixed and args.fault in ("both", "write"),
        keep_state=not args.fixed and args.fault in ("both", "state"),
    )
    model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse")
    try:
        model.fit(batches, shuffle=False, verbose=2, callbacks=[tb_gradhealth.GradHealthCallback(args.log_dir)])
    finally:  # Keras raises where nothing can be trained; what was seen until then is in the log
        print(f"Logged to {args.log_dir}: tensorboard --logdir {args.log_dir}", flush=True)


if __name__ == "__main__":
    main()
