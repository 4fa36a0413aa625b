import tensorflow as tf


def build():
    cut = tf.Variable(0.5, name="cut")
    scale = tf.Variable(2.0, name="scale")
    rows = tf.ragged.constant([[0.1, 0.9], [0.7], [0.6, 0.2, 0.8]])
    return {"vars": [cut, scale], "rows": rows}


def forward(state):
    cut, scale = state["vars"]
    rows = state["rows"]
    keep = rows > cut
    kept = tf.ragged.boolean_mask(rows * scale, keep)
    return tf.reduce_sum(tf.reduce_sum(kept, axis=1) ** 2)


def step(state):
    with tf.GradientTape() as tape:
        loss = forward(state)
    return tape.gradient(loss, state["vars"]), state["vars"]


# ---- answers ----
TITLE = "A learned threshold over ragged rows"
KIND = "none"
MODE = "eager"
EXPECT = {"cut": "none", "scale": "ok"}
CAUSE = "The threshold enters by a comparison; a boolean mask carries no gradient."
CAUSE_LINE = "keep = rows > cut"
CAUSE_OP = "Greater"
REASONS = ["comparison"]
FIX = [("kept = tf.ragged.boolean_mask(rows * scale, keep)", "kept = rows * scale * tf.sigmoid(8.0 * (rows - cut))")]
