import keras
import tensorflow as tf


def focal(labels, p, gamma=0.5):
    right = tf.reduce_sum(labels * p, axis=-1)
    return -tf.reduce_mean((1.0 - right) ** gamma * tf.math.log(tf.maximum(right, 1e-6)))


def build():
    keras.utils.set_random_seed(216)
    inp = keras.Input((2,))
    out = keras.layers.Dense(2, activation="softmax", name="cls", kernel_initializer="identity")(inp)
    model = keras.Model(inp, out)
    x = tf.constant([[30.0, -30.0], [0.2, 0.1]])
    y = tf.constant([[1.0, 0.0], [0.0, 1.0]])
    optimizer = keras.optimizers.SGD(0.1)
    optimizer.build(model.trainable_variables)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = focal(y, model(x, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply(grads, model.trainable_variables)
        return grads

    return {"model": model, "train_step": train_step, "x": x, "y": y}


def step(state):
    return state["train_step"](state["x"], state["y"]), state["model"].trainable_variables


# ---- answers ----
TITLE = "Focal loss with gamma 0.5 on a sample that is classified perfectly; the function also applies the update"
KIND = "nan"
MODE = "function"
EXPECT = {"cls": "nan"}
CAUSE = "(1 - p) ** 0.5 has an infinite derivative at p = 1."
CAUSE_LINE = "return -tf.reduce_mean((1.0 - right) ** gamma * tf.math.log(tf.maximum(right, 1e-6)))"
CAUSE_OP = "Pow"
REASONS = ["derivative_of_power_at_zero", "derivative_of_sqrt_at_zero"]
FIX = [("gamma=0.5", "gamma=2.0")]
