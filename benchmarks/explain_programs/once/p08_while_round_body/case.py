import tensorflow as tf


def build():
    pace = tf.Variable(1.3, name="pace")
    drag = tf.Variable(0.2, name="drag")

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:

            def body(i, place):
                stride = tf.round(pace * 2.0) / 2.0
                return i + 1, place + stride * (1.0 - drag)

            _, place = tf.while_loop(lambda i, place: i < 4, body, [tf.constant(0), tf.constant(0.0)])
            loss = tf.square(place - 3.0)
        return tape.gradient(loss, [pace, drag])

    return {"vars": [pace, drag], "train_step": train_step}


def step(state):
    return state["train_step"](), state["vars"]


# ---- answers ----
TITLE = "tf.round in the body of a while_loop"
KIND = "zero"
MODE = "function"
EXPECT = {"pace": "zero", "drag": "ok"}
CAUSE = "round has no gradient."
CAUSE_LINE = "stride = tf.round(pace * 2.0) / 2.0"
CAUSE_OP = "Round"
REASONS = ["rounding"]
FIX = [("tf.round(pace * 2.0) / 2.0", "pace")]
