import tensorflow as tf

WIDTH, DEPTH = 64, 70


def layer_weights(index):
    return tf.random.stateless_normal([WIDTH, WIDTH], seed=[index, 106])


def build():
    weights = [tf.Variable(layer_weights(i), name=f"dense{i}_w") for i in range(DEPTH)]
    return {"weights": weights, "x": tf.random.stateless_normal([2, WIDTH], seed=[0, 1])}


def step(state):
    with tf.GradientTape() as tape:
        h = state["x"]
        for w in state["weights"]:
            h = tf.matmul(h, w)
        loss = tf.reduce_mean(h)
    return tape.gradient(loss, state["weights"]), state["weights"]


# ---- answers ----
TITLE = "Seventy linear layers with weights of standard deviation 1"
KIND = "nan"
MODE = "eager"
EXPECT = {"dense": "nan", **{f"dense{i}_w": "inf" for i in range(25, 43)}}
CAUSE = "Each layer multiplies the activations by about 8 (sqrt(64)), so they overflow float32 after some 42 layers."
CAUSE_LINE = "return tf.random.stateless_normal([WIDTH, WIDTH], seed=[index, 106])"
CAUSE_OP = "MatMul"
REASONS = ["growth_in_recurrence"]
FIX = [("seed=[index, 106])", "seed=[index, 106], stddev=WIDTH**-0.5)")]
