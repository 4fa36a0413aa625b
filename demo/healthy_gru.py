"""A healthy training to look at: a GRU that learns to write English, character by character, from Python's own help."""

import argparse
from pydoc_data.topics import topics

import keras
import numpy as np
import tensorflow as tf

import tb_gradhealth

CHARACTERS, BATCH = 32, 32


def english():
    """The help texts: int32 array [characters], and the number of different characters."""
    text = "\n".join(topics[name] for name in sorted(topics)).lower()
    alphabet = sorted(set(text))
    number = {character: i for i, character in enumerate(alphabet)}
    return np.array([number[character] for character in text], "int32"), len(alphabet)


class Progress(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch % 100 == 0 or batch == self.params["steps"] - 1:
            print(f"step {batch:5d}  loss {logs['loss']:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log-dir", default="logs/healthy_gru")
    parser.add_argument("--steps", type=int, default=3000)
    args = parser.parse_args()

    keras.utils.set_random_seed(0)
    text, symbols = english()
    windows = tf.data.Dataset.from_tensor_slices(text).batch(CHARACTERS + 1, drop_remainder=True)
    pairs = windows.map(lambda window: (window[:-1], window[1:])).shuffle(4096, seed=0).repeat()
    model = keras.Sequential(
        [
            keras.layers.Embedding(symbols, 24, name="characters"),
            keras.layers.GRU(64, return_sequences=True, name="gru_lower"),
            keras.layers.GRU(64, return_sequences=True, name="gru_upper"),
            keras.layers.Dense(symbols, name="next_character"),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=loss)
    model.fit(
        pairs.batch(BATCH),
        steps_per_epoch=args.steps,
        shuffle=False,
        verbose=0,
        callbacks=[tb_gradhealth.GradHealthCallback(args.log_dir), Progress()],
    )


if __name__ == "__main__":
    main()
