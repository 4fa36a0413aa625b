import numpy as np
import tensorflow as tf
import tf_keras


def pick_best(args):
    frames, scores = args
    best = tf.math.top_k(scores[..., 0], k=1).indices
    return tf.gather(frames, best, batch_dims=1)[:, 0]


def build():
    tf_keras.utils.set_random_seed(132)
    inp = tf_keras.Input((6, 5))
    h = tf_keras.layers.Conv1D(8, 3, padding="same", activation="relu", name="conv")(inp)
    score = tf_keras.layers.Dense(1, name="attend")(h)
    best = tf_keras.layers.Lambda(pick_best, name="pick")([h, score])
    model = tf_keras.Model(inp, tf_keras.layers.Dense(2, activation="softmax", name="out")(best))
    model.compile(optimizer=tf_keras.optimizers.Adam(1e-3), loss="sparse_categorical_crossentropy")
    rng = np.random.default_rng(132)
    return {"model": model, "x": rng.normal(size=(16, 6, 5)).astype("float32"), "y": rng.integers(0, 2, 16)}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
REQUIRES = "tf_keras"
TITLE = "tf_keras: hard attention takes the frame with the best score"
SOURCE = "https://github.com/keras-team/keras/issues/11157"
KIND = "none"
MODE = "fit"
EXPECT = {"conv": "ok", "attend": "none", "out": "ok"}
CAUSE = "Only the indices of top_k are used; indices are integers without a gradient."
CAUSE_LINE = "best = tf.math.top_k(scores[..., 0], k=1).indices"
CAUSE_OP = "TopKV2"
FIX = [("return tf.gather(frames, best, batch_dims=1)[:, 0]", "return tf.reduce_sum(frames * tf.nn.softmax(scores, 1), 1)")]
