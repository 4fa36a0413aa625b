import numpy as np
import tensorflow as tf
import keras


class Multitask:
    def __init__(self, tasks):
        self.trunk = keras.layers.Dense(12, activation="relu", name="trunk")
        self.trunk.build((None, 9))
        self.heads = {}
        for t in tasks:
            self.add_head(t)

    def add_head(self, task):
        head = keras.layers.Dense(1, name=f"head_{task}")
        head.build((None, 12))
        self.heads[task] = head
        return head

    def predict(self, x, task):
        z = self.trunk(x)
        head = self.add_head(task) if task not in self.tasks() else self.heads[task]
        return head(z)

    def tasks(self):
        return [h.name for h in self.heads.values()]


def build():
    keras.utils.set_random_seed(131)
    net = Multitask(["age", "size"])
    rng = np.random.default_rng(131)
    variables = net.trunk.trainable_variables + [v for h in net.heads.values() for v in h.trainable_variables]
    return {"net": net, "variables": variables, "opt": keras.optimizers.SGD(0.05),
            "x": tf.constant(rng.normal(size=(14, 9)), tf.float32), "age": rng.normal(size=(14, 1)).astype("float32"),
            "size": rng.normal(size=(14, 1)).astype("float32")}


def step(state):
    net, variables = state["net"], state["variables"]
    with tf.GradientTape() as tape:
        loss = sum(tf.reduce_mean(tf.square(net.predict(state["x"], t) - state[t])) for t in ("age", "size"))
    return tape.gradient(loss, variables), variables


# ---- answers ----
TITLE = "Multi-task heads are created anew in every step"
SOURCE = "https://github.com/Hirosora/LightCTR/issues/4"
KIND = "none"
MODE = "eager"
EXPECT = {"trunk": "ok", "head_": "none"}
CAUSE = "The test compares with layer names, so each call makes a fresh head; the heads whose variables are in the list are never used."
CAUSE_LINE = "head = self.add_head(task) if task not in self.tasks() else self.heads[task]"
CAUSE_OP = "unused"
FIX = [("if task not in self.tasks()", "if task not in self.heads")]
