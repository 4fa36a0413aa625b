import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(28)
    actor = keras.layers.Dense(2, name="actor")
    critic = keras.layers.Dense(1, name="critic")
    actor.build((None, 3))
    critic.build((None, 3))

    @tf.function
    def train_step(obs):
        with tf.GradientTape() as tape:
            value = critic(obs)
            policy_loss = -tf.reduce_mean(tf.nn.log_softmax(actor(obs))[:, 0] * tf.stop_gradient(value[:, 0]))
            value_loss = tf.reduce_mean(tf.square(value - 1.0))
        actor_grads = tape.gradient(policy_loss, actor.trainable_variables)
        critic_grads = tape.gradient(value_loss, critic.trainable_variables)
        return actor_grads + critic_grads

    return {
        "variables": actor.trainable_variables + critic.trainable_variables,
        "train_step": train_step,
        "obs": tf.random.normal([4, 3], seed=29),
    }


def step(state):
    return state["train_step"](state["obs"]), state["variables"]


# ---- answers ----
TITLE = "Actor and critic share a tape that is not persistent"
KIND = "error"
MODE = "function"
EXPECT = {}
EXPECT_ERROR = "A non-persistent GradientTape can only be used to compute one set of gradients"
CAUSE = "The first gradient call releases the tape."
CAUSE_LINE = "critic_grads = tape.gradient(value_loss, critic.trainable_variables)"
CAUSE_OP = "tape"
REASONS = ["tape_used_twice"]
FIX = [("tf.GradientTape() as tape", "tf.GradientTape(persistent=True) as tape")]
