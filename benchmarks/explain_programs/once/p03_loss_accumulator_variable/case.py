import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(3)
    net = keras.Sequential(
        [keras.Input((2,)), keras.layers.Dense(3, activation="tanh", name="mid"), keras.layers.Dense(1, name="end")]
    )
    total = tf.Variable(0.0, trainable=False, name="total")

    @tf.function
    def train_step(batches):
        total.assign(0.0)
        with tf.GradientTape() as tape:
            for i in range(3):
                piece = tf.reduce_mean(tf.square(net(batches[i]) - 1.0))
                total.assign_add(piece)
            loss = total / 3.0
        return tape.gradient(loss, net.trainable_variables)

    return {"net": net, "train_step": train_step, "batches": tf.random.normal([3, 4, 2], seed=4)}


def step(state):
    return state["train_step"](state["batches"]), state["net"].trainable_variables


# ---- answers ----
TITLE = "Gradient accumulation: the loss is added up in a variable"
KIND = "none"
MODE = "function"
EXPECT = {"mid": "none", "end": "none"}
CAUSE = "assign_add has no gradient; the loss reads a variable."
CAUSE_LINE = "total.assign_add(piece)"
CAUSE_OP = "AssignAddVariableOp"
REASONS = ["assigned"]
FIX = [
    ("                total.assign_add(piece)", "                acc = piece if i == 0 else acc + piece"),
    ("loss = total / 3.0", "loss = acc / 3.0"),
]
