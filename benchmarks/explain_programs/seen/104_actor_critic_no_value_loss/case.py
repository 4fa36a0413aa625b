import numpy as np
import tensorflow as tf
import keras


class ActorCritic(keras.Model):
    def __init__(self, actions):
        super().__init__()
        self.torso = keras.layers.Dense(16, activation="relu", name="torso")
        self.actor = keras.layers.Dense(actions, name="actor")
        self.critic = keras.layers.Dense(1, name="critic")

    def call(self, obs):
        z = self.torso(obs)
        return self.actor(z), self.critic(z)


def build():
    keras.utils.set_random_seed(104)
    model = ActorCritic(4)
    rng = np.random.default_rng(4)
    obs = tf.constant(rng.normal(size=(20, 6)), tf.float32)
    act = tf.constant(rng.integers(0, 4, 20))
    ret = tf.constant(rng.normal(size=20), tf.float32)
    model(obs)
    opt = keras.optimizers.Adam(7e-4)

    def losses(logits, values, act, ret):
        adv = ret - tf.squeeze(values, -1)
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(act, logits)
        policy = -tf.reduce_mean(logp * tf.stop_gradient(adv))
        value = tf.reduce_mean(tf.square(adv))
        probs = tf.nn.softmax(logits)
        entropy = -tf.reduce_mean(tf.reduce_sum(probs * tf.nn.log_softmax(logits), -1))
        return policy, value, entropy

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            logits, values = model(obs)
            policy, value, entropy = losses(logits, values, act, ret)
            total = policy - 0.01 * entropy
        grads = tape.gradient(total, model.trainable_variables)
        opt.apply([g for g in grads if g is not None],
                  [v for g, v in zip(grads, model.trainable_variables) if g is not None])
        return grads

    return {"model": model, "train_step": train_step}


def step(state):
    return state["train_step"](), state["model"].trainable_variables


# ---- answers ----
TITLE = "A2C: the value loss is computed but never added to the total"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/48547"
KIND = "none"
MODE = "function"
EXPECT = {"torso": "ok", "/actor": "ok", "critic/critic": "none"}
CAUSE = "'value' is left out of the total loss; the advantage is behind stop_gradient, so nothing reaches the critic."
CAUSE_LINE = "total = policy - 0.01 * entropy"
CAUSE_OP = "unused"
FIX = [("total = policy - 0.01 * entropy", "total = policy - 0.01 * entropy + 0.5 * value")]
