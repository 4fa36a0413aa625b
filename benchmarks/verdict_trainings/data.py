"""Real and synthetic data that ships with Python or scikit-learn, as float32 arrays."""

import functools

import numpy as np


@functools.cache
def digits():
    """1,797 handwritten digits: images ``[n, 64]`` in 0..1, classes ``[n]``."""
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    return (x / 16).astype("float32"), y.astype("int32")


def images():
    """The digits as ``[n, 8, 8, 1]``."""
    x, y = digits()
    return x.reshape(-1, 8, 8, 1), y


@functools.cache
def text(length=24):
    """English text from the standard library by character: ids and next ids ``[n, length]``, alphabet size."""
    from pydoc_data.topics import topics

    joined = " ".join(topics[key] for key in sorted(topics))[:120_000]
    letters = sorted(set(joined))
    index = {letter: i for i, letter in enumerate(letters)}
    ids = np.array([index[c] for c in joined], "int32")
    count = (len(ids) - 1) // length
    return ids[: count * length].reshape(-1, length), ids[1 : count * length + 1].reshape(-1, length), len(letters)


@functools.cache
def words(length=20):
    """The text by word: ids ``[n, length]``, whether it speaks of classes ``[n]``, vocabulary size."""
    from pydoc_data.topics import topics

    tokens = " ".join(topics[key] for key in sorted(topics)).lower().split()
    names = sorted(set(tokens))
    index = {word: i for i, word in enumerate(names)}
    count = len(tokens) // length
    ids = np.array([index[t] for t in tokens[: count * length]], "int32").reshape(count, length)
    about = index["class"]
    return ids, (ids == about).any(axis=1).astype("float32"), len(names)


@functools.cache
def series(length=32, count=2000):
    """Noisy sums of sines: ``[n, length, 1]``, and the next value ``[n, 1]``."""
    generator = np.random.default_rng(0)
    t = np.arange(length + 1)
    frequency = generator.uniform(0.05, 0.5, (count, 2, 1))
    phase = generator.uniform(0, 6.28, (count, 2, 1))
    wave = np.sin(frequency * t + phase).sum(axis=1) + generator.normal(0, 0.1, (count, length + 1))
    wave = wave.astype("float32")
    return wave[:, :-1, None], wave[:, -1:]


@functools.cache
def table(features=8, count=2000):
    """A smooth function of a few features: ``[n, features]`` standardised, ``[n, 1]`` standardised."""
    generator = np.random.default_rng(1)
    x = generator.normal(size=(count, features)).astype("float32")
    y = np.sin(x[:, :1]) + 0.5 * x[:, 1:2] * x[:, 2:3] + 0.1 * generator.normal(size=(count, 1))
    return x, ((y - y.mean()) / y.std()).astype("float32")
