import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(109)
    policy = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="tanh", name="pi_hidden"),
                               keras.layers.Dense(3, name="pi_logits")])
    obs = tf.constant(np.random.default_rng(9).normal(size=(32, 4)), tf.float32)
    opt = keras.optimizers.Adam(0.01)
    payoff = tf.constant([0.1, 1.0, -0.4])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            logits = policy(obs, training=True)
            action = tf.random.categorical(logits, 1, seed=3)[:, 0]
            reward = tf.gather(payoff, action)
            loss = -tf.reduce_mean(reward)
        grads = tape.gradient(loss, policy.trainable_variables)
        if grads[0] is not None:
            opt.apply(grads, policy.trainable_variables)
        return grads

    return {"policy": policy, "train_step": train_step}


def step(state):
    return state["train_step"](), state["policy"].trainable_variables


# ---- answers ----
TITLE = "Policy gradient without log-probabilities: maximise the reward of the sampled action"
SOURCE = "https://github.com/keras-team/keras/issues/5733"
KIND = "none"
MODE = "function"
EXPECT = {"pi_hidden": "none", "pi_logits": "none"}
CAUSE = "Sampling (Multinomial) gives integers and has no gradient; the log-probability of the action is needed."
CAUSE_LINE = "action = tf.random.categorical(logits, 1, seed=3)[:, 0]"
CAUSE_OP = "Multinomial"
FIX = [("loss = -tf.reduce_mean(reward)", "loss = tf.reduce_mean(reward * tf.nn.sparse_softmax_cross_entropy_with_logits(action, logits))")]
