import numpy as np
import tensorflow as tf
import keras


def make_net():
    return keras.Sequential([keras.Input((5,)), keras.layers.Dense(10, activation="relu", name="hid"),
                             keras.layers.Dense(2, name="out")])


class Agent:
    def __init__(self):
        self.online = make_net()
        self.target = keras.models.clone_model(self.online)
        self.target.set_weights(self.online.get_weights())
        self.opt = keras.optimizers.Adam(1e-3)

    def q_values(self, obs, use_target=False):
        net = self.online if use_target else self.target
        return net(obs)

    @tf.function
    def learn(self, obs, act, rew, nxt):
        future = tf.reduce_max(self.q_values(nxt, use_target=True), -1)
        goal = rew + 0.99 * future
        with tf.GradientTape() as tape:
            q = tf.gather(self.q_values(obs), act, batch_dims=1)
            loss = tf.reduce_mean(tf.square(goal - q))
        return tape.gradient(loss, self.online.trainable_variables)


def build():
    keras.utils.set_random_seed(116)
    rng = np.random.default_rng(16)
    batch = (tf.constant(rng.normal(size=(12, 5)), tf.float32), tf.constant(rng.integers(0, 2, 12)),
             tf.constant(rng.normal(size=12), tf.float32), tf.constant(rng.normal(size=(12, 5)), tf.float32))
    return {"agent": Agent(), "batch": batch}


def step(state):
    agent = state["agent"]
    return agent.learn(*state["batch"]), agent.online.trainable_variables


# ---- answers ----
TITLE = "DQN: online and target network are mixed up"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/42984"
KIND = "none"
MODE = "function"
EXPECT = {"hid": "none", "out": "none"}
CAUSE = "Inside the tape the target copy is run while the gradient is asked for the online network's variables."
CAUSE_LINE = "net = self.online if use_target else self.target"
CAUSE_OP = "unused"
FIX = [("net = self.online if use_target else self.target", "net = self.target if use_target else self.online")]
