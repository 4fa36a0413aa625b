import tensorflow as tf
import keras


class Posterior(keras.layers.Layer):
    """log p(w | data) of a tiny regression, written so that a sampler can call it with any w."""

    def build(self, shape):
        self.w = self.add_weight(shape=(3,), initializer="zeros", name="w")
        super().build(shape)

    def set_point(self, position):
        self.w.assign(position)

    def log_prob(self, x, y):
        residual = y - tf.linalg.matvec(x, self.w)
        prior = -0.5 * tf.reduce_sum(tf.square(self.w))
        return prior - 0.5 * tf.reduce_sum(tf.square(residual))


def build():
    x = tf.random.stateless_normal([12, 3], [1, 2])
    y = tf.linalg.matvec(x, tf.constant([1.0, -2.0, 0.5]))
    model = Posterior()
    model.build(x.shape)
    position = tf.Variable([0.3, 0.1, -0.2], name="position")
    return {"model": model, "x": x, "y": y, "position": position}


def target_log_prob(state, position):
    state["model"].set_point(position)
    return state["model"].log_prob(state["x"], state["y"])


def step(state):
    position = state["position"]
    with tf.GradientTape() as tape:
        value = target_log_prob(state, position)
    grad = tape.gradient(value, position)
    if grad is not None:
        position.assign_add(0.01 * grad)
    return [grad], [position]


# ---- answers ----
TITLE = "Hamiltonian sampler: the position is written into a layer weight before the log-probability"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/54532"
KIND = "none"
MODE = "eager"
EXPECT = {"position": "none"}
CAUSE = "Variable.assign is not differentiable: log_prob reads self.w and knows nothing of 'position'."
CAUSE_LINE = "self.w.assign(position)"
CAUSE_OP = "AssignVariableOp"
FIX = [("state[\"model\"].set_point(position)\n", "state[\"model\"].__dict__[\"point\"] = tf.convert_to_tensor(position)\n"),
       ("y - tf.linalg.matvec(x, self.w)", "y - tf.linalg.matvec(x, self.point)"),
       ("tf.reduce_sum(tf.square(self.w))", "tf.reduce_sum(tf.square(self.point))")]
