"""An amplifier model, a GRU run sample by sample, in which no gradient reaches any weight.

The GRU carries its state from sample to sample and leaves each output in a Python dict. At the end the outputs are
put together with NumPy: what comes back into TensorFlow is a constant, and the loss has no path to any weight. All
gradients are None. The loop hands only those that are there to the optimizer, so nothing raises and nothing is learned.

Advice found on the web says that the state is to blame and belongs into a `tf.Variable`, written with `assign`. That
makes it worse: an assignment has no gradient, so the recurrent cell stays without one even where the outputs are
gathered as they should be. `--state-variable` shows it. Carrying the state by plain assignment was right all along.

    python examples/audio_gru.py                     # everything None from step 0 on
    python examples/audio_gru.py --state-variable    # the cell None, the head after it fine
    python examples/audio_gru.py --fixed             # outputs stacked as tensors: everything learns
"""

import argparse

import keras
import numpy as np
import tensorflow as tf

import tb_gradhealth

SAMPLES, UNITS = 48, 8


def plucked_string(samples, seed):
    """A decaying string sound by Karplus and Strong's recipe: float32 [samples], within -1..1."""
    rng = np.random.default_rng(seed)
    sound = np.zeros(samples, "float32")
    sound[:24] = rng.uniform(-1.0, 1.0, 24)
    for n in range(24, samples):
        sound[n] = 0.498 * (sound[n - 24] + sound[n - 23])
    return sound


def amplifier(dry):
    """What the model has to imitate: a soft clipper after a one-pole low-pass filter."""
    wet, low = np.zeros_like(dry), 0.0
    for n, sample in enumerate(dry):
        low += 0.6 * (sample - low)
        wet[n] = np.tanh(3.0 * low)
    return wet


class AmpModel:
    def __init__(self, state_variable):
        self.cell = keras.layers.GRUCell(UNITS, name="amp_cell")
        self.head = keras.layers.Dense(1, name="amp_head")
        self.cell.build((None, 1))
        self.head.build((None, UNITS))
        self.variables = self.cell.trainable_variables + self.head.trainable_variables
        self.state_variable = state_variable
        self.state = tf.zeros([1, UNITS])
        self.stored_state = tf.Variable(self.state, trainable=False, name="stored_state")

    def reset(self):
        self.state = tf.zeros([1, UNITS])
        self.stored_state.assign(self.state)

    def sample(self, x):
        """One sample in, one sample out: a scalar tensor."""
        if self.state_variable:
            _, new_state = self.cell(tf.reshape(x, [1, 1]), self.stored_state)
            self.stored_state.assign(new_state)
            return self.head(self.stored_state)[0, 0]
        output, self.state = self.cell(tf.reshape(x, [1, 1]), self.state)
        return self.head(output)[0, 0]


def assemble(outputs, as_tensors):
    """The samples, put together to one signal [samples]."""
    if as_tensors:
        return tf.stack(outputs)
    return np.array(outputs, dtype="float32")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--fixed", action="store_true", help="stack the outputs as tensors, carry the state as a tensor"
    )
    parser.add_argument(
        "--state-variable",
        action="store_true",
        help="the variant: outputs stacked as tensors, but the state kept in a variable by assign",
    )
    parser.add_argument("--log-dir", default="logs/audio_gru")
    parser.add_argument("--steps", type=int, default=40)
    args = parser.parse_args()
    if args.fixed and args.state_variable:
        parser.error("--state-variable is a fault and --fixed mends it: choose one")

    keras.utils.set_random_seed(3)
    dry = plucked_string(SAMPLES * 40, seed=3)
    wet = amplifier(dry)
    model = AmpModel(args.state_variable)
    optimizer = keras.optimizers.Adam(1e-2)

    with tb_gradhealth.GradHealthWriter(args.log_dir) as writer:
        for step in range(args.steps):
            first = SAMPLES * (step % 40)
            model.reset()
            with tf.GradientTape() as tape:
                rendered = {}
                for n, x in enumerate(dry[first : first + SAMPLES]):
                    rendered[n] = model.sample(x)
                outputs = [rendered[n] for n in range(SAMPLES)]
                signal = assemble(outputs, as_tensors=args.fixed or args.state_variable)
                loss = tf.reduce_mean(tf.square(signal - wet[first : first + SAMPLES]))
            gradients = tape.gradient(loss, model.variables)
            writer.record(gradients, model.variables, step=step, loss=loss)

            there = [(g, v) for g, v in zip(gradients, model.variables, strict=True) if g is not None]
            if there:
                optimizer.apply_gradients(there)
            if step % 10 == 0 or step == args.steps - 1:
                print(f"step {step:4d}  loss {float(loss):8.4f}", flush=True)

    print(f"Logged to {args.log_dir}: tensorboard --logdir {args.log_dir}")


if __name__ == "__main__":
    main()
