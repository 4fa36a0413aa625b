import keras
import tensorflow as tf


class Book:
    """A plain helper object: Keras does not look inside."""

    def __init__(self, rows, width):
        self.pages = tf.Variable(tf.random.stateless_normal([rows, width], [38, 0]), name="pages")


class Reader(keras.layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.book = Book(3, 4)
        self.key = keras.layers.Dense(3, name="key")

    def call(self, x):
        return tf.nn.softmax(self.key(x)) @ self.book.pages


def build():
    keras.utils.set_random_seed(38)
    model = keras.Sequential([keras.Input((2,)), Reader(name="reader"), keras.layers.Dense(1, name="tell")])
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
    return {"model": model, "x": tf.random.normal([8, 2], seed=39), "y": tf.ones([8, 1])}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=8, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "A variable inside a plain helper object of a Keras layer"
KIND = "none"
MODE = "fit"
MISSING = ["pages"]
EXPECT = {"key": "ok", "tell": "ok"}
CAUSE = "Keras tracks add_weight only; pages is read in every step and never trained."
CAUSE_LINE = 'self.pages = tf.Variable(tf.random.stateless_normal([rows, width], [38, 0]), name="pages")'
CAUSE_OP = "untracked"
REASONS = ["untracked", "not_handed_over"]
FIX = [
    (
        'self.pages = tf.Variable(tf.random.stateless_normal([rows, width], [38, 0]), name="pages")',
        "self.pages = tf.random.stateless_normal([rows, width], [38, 0])",
    ),
    (
        "        self.book = Book(3, 4)",
        "        self.book = Book(3, 4); self.book.pages = self.add_weight(shape=(3, 4), name='pages')",
    ),
]
