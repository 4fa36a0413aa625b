import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(114)
    head = keras.layers.Dense(2, activation="sigmoid", name="box")
    head.build((None, 3))
    x = tf.random.normal([3, 3], seed=9)
    truth = tf.constant([[0.2, 0.8], [0.5, 0.5], [0.1, 0.4]])  # left, right; the second interval is empty

    def overlap(pair):
        box, true = pair
        offset = (box[0] - true[0]) / (true[1] - true[0])
        return tf.square(offset)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            boxes = head(x)
            boxes = tf.stack([boxes[:, 0] * 0.5, 0.5 + boxes[:, 1] * 0.5], axis=1)
            score = tf.map_fn(overlap, (boxes, truth), fn_output_signature=tf.float32)
            loss = tf.reduce_mean(score)
        return tape.gradient(loss, head.trainable_variables)

    return {"head": head, "train_step": train_step}


def step(state):
    return state["train_step"](), state["head"].trainable_variables


# ---- answers ----
TITLE = "tf.map_fn over intervals, one of which is empty"
KIND = "inf"
MODE = "function"
EXPECT = {"box": "inf"}
CAUSE = "The second true interval has length 0: a division by 0 inside the mapped function."
CAUSE_LINE = "offset = (box[0] - true[0]) / (true[1] - true[0])"
CAUSE_OP = "RealDiv"
REASONS = ["division_by_zero"]
FIX = [("/ (true[1] - true[0])", "/ tf.maximum(true[1] - true[0], 1e-1)")]
