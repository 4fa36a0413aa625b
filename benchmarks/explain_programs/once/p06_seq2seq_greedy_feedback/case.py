import keras
import tensorflow as tf

VOCAB, UNITS = 7, 5


def build():
    keras.utils.set_random_seed(6)
    embed = keras.layers.Embedding(VOCAB, 4, name="embed")
    cell = keras.layers.GRUCell(UNITS, name="cell")
    words = keras.layers.Dense(VOCAB, name="words")
    judge = keras.layers.Dense(1, name="judge")
    embed.build((None,))
    cell.build((None, 4))
    words.build((None, UNITS))
    judge.build((None, 4))
    layers = [embed, cell, words, judge]
    variables = [v for layer in layers for v in layer.trainable_variables]

    @tf.function
    def train_step(h):
        with tf.GradientTape() as tape:
            token = tf.zeros([2], tf.int32)
            score = 0.0
            for _ in range(4):
                h, _ = cell(embed(token), [h])
                token = tf.argmax(words(h), -1, output_type=tf.int32)
                score += tf.reduce_mean(judge(embed(token)))
            loss = -score
        return tape.gradient(loss, variables)

    return {"variables": variables, "train_step": train_step, "h": tf.random.normal([2, UNITS], seed=7)}


def step(state):
    return state["train_step"](state["h"]), state["variables"]


# ---- answers ----
TITLE = "Free-running decoder that judges its own greedy tokens"
KIND = "none"
MODE = "function"
EXPECT = {"embed": "ok", "cell": "none", "words": "none", "judge": "ok"}
CAUSE = "argmax turns the logits into token ids."
CAUSE_LINE = "token = tf.argmax(words(h), -1, output_type=tf.int32)"
CAUSE_OP = "ArgMax"
REASONS = ["argmax"]
FIX = [
    (
        "                score += tf.reduce_mean(judge(embed(token)))",
        "                score += tf.reduce_mean(judge(tf.nn.softmax(words(h)) @ embed.embeddings.value))",
    )
]
