import tensorflow as tf


def build():
    temperature = tf.Variable(0.7, name="temperature")
    centre = tf.Variable([0.1, 0.2], name="centre")
    rows = tf.random.stateless_normal([4, 2], [7, 7])

    def one(row):
        return tf.nn.softmax(row / tf.stop_gradient(temperature))

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            soft = tf.map_fn(one, rows)
            loss = tf.reduce_sum(tf.square(soft - centre))
        return tape.gradient(loss, [temperature, centre])

    return {"vars": [temperature, centre], "train_step": train_step}


def step(state):
    return state["train_step"](), state["vars"]


# ---- answers ----
TITLE = "A stop_gradient inside the function of map_fn"
KIND = "none"
MODE = "function"
EXPECT = {"temperature": "none", "centre": "ok"}
CAUSE = "stop_gradient in the loop body: nothing reaches temperature."
CAUSE_LINE = "return tf.nn.softmax(row / tf.stop_gradient(temperature))"
CAUSE_OP = "StopGradient"
REASONS = ["stop_gradient"]
FIX = [("tf.stop_gradient(temperature)", "temperature")]
