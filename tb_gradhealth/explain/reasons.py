"""The reasons for which a gradient is None or exactly zero: a sentence and what to change for each.

`{who}` is the variables, `{op}` TensorFlow's operation, `{what}` a detail that the diagnosis filled in. A fix names the
change that mends it.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Words:
    """`reason`: one plain sentence. `fix`: what to change."""

    reason: str
    fix: str


WORDS: dict[str, Words] = {
    "never_used": Words(
        "{who} {is_} never read on the way to the loss: the step does not use it.",
        "Use it in the computation of the loss, or remove it; if it is meant to rest, set trainable=False.",
    ),
    "thrown_away": Words(
        "What is computed with {who} is thrown away: nothing that the loss depends on takes it up{what}.",
        "Use the result in this computation: check which of two similar names is passed on and which is left behind.",
    ),
    "tensor_array_dropped": Words(
        "The result of TensorArray.write is dropped: in a graph it returns a new array and leaves the old one empty.",
        "Assign the result: array = array.write(index, value); the same goes for scatter, split and unstack.",
    ),
    "assigned": Words(
        "The value is written into a variable with {op} and read back from there; no derivative passes through an "
        "assignment.",
        "Use the value itself in the loss, as a tensor (collect values in a list and tf.stack them, or return the new "
        "state); assign it to the variable afterwards if it has to be kept.",
    ),
    "stored": Words(
        "The value is put into a {op} and taken out again; a derivative does not pass through it.",
        "Pass the value on as a tensor.",
    ),
    "numpy": Words(
        "Here the tensor leaves TensorFlow for NumPy or Python numbers{what}; what comes back is a constant.",
        "Compute with TensorFlow operations instead (tf.reduce_mean, tf.stack, …): no .numpy(), float() or np. here.",
    ),
    "argmax": Words(
        "{op} answers positions, which are whole numbers: no derivative passes through the choice.",
        "Use a soft choice (tf.nn.softmax, Gumbel-softmax), the values instead of the positions, or the "
        "straight-through form x + tf.stop_gradient(hard(x) - x); for a classifier, give the logits to the loss.",
    ),
    "rounding": Words(
        "{op} is constant between its steps: TensorFlow registers no derivative for it.",
        "Leave the rounding out of the loss, or use the straight-through form x + tf.stop_gradient(tf.round(x) - x).",
    ),
    "comparison": Words(
        "{op} makes true and false of numbers: no derivative passes through a comparison or a mask.",
        "Use a smooth measure in its place, such as tf.sigmoid(k * (x - threshold)), or a loss made for training "
        "(cross-entropy instead of accuracy).",
    ),
    "branch_condition": Words(
        "The value only decides which branch runs or how long a loop lasts; no derivative passes through a condition.",
        "Let the value enter the result itself: weigh both branches, for example with tf.sigmoid(k * (x - threshold)).",
    ),
    "integer_cast": Words(
        "The value is cast to {what}; whole numbers and booleans carry no derivative.",
        "Keep it floating: remove the cast, and let loop variables and accumulators start as 0.0 instead of 0.",
    ),
    "integer_result": Words(
        "{op} answers {what}; whole numbers, booleans and strings carry no derivative.",
        "Compute what the loss needs with floating operations.",
    ),
    "string": Words(
        "The value is turned into text by {op} and back into a number; text carries no derivative.",
        "Leave the string out of the computation of the loss.",
    ),
    "sampling": Words(
        "{op} draws at random: a drawn category has no derivative with respect to its probabilities.",
        "Use a reparametrised sample (Gumbel-softmax, mean + std * noise), or a score-function loss with the log "
        "probability of the sample.",
    ),
    "numpy_function": Words(
        "A tf.numpy_function is a black box: no derivative passes through NumPy code.",
        "Write the function with TensorFlow operations, or give it a derivative with tf.custom_gradient.",
    ),
    "py_function": Words(
        "The Python function inside tf.py_function gives a result through which no derivative passes{what}.",
        "Compute inside tf.py_function with TensorFlow operations only and return a floating tensor, or give the whole "
        "a derivative with tf.custom_gradient.",
    ),
    "no_gradient_registered": Words(
        "TensorFlow has no gradient for the operation {op}, and raises when a derivative reaches it.",
        "Compute the same with other operations (gather, arithmetic, tf.sort, …), or put tf.stop_gradient around it if "
        "no derivative is wanted.",
    ),
    "not_differentiable": Words(
        "The operation {op} is registered as not differentiable.",
        "Replace it by operations with a derivative, or give it one with tf.custom_gradient.",
    ),
    "input_without_derivative": Words(
        "{op} has no derivative with respect to this input.",
        "Let the variable enter by another input or another operation.",
    ),
    "stop_gradient": Words(
        "The stop_gradient here cuts off everything before it.",
        "Remove tf.stop_gradient here; after a rounding or a look-up use the straight-through form "
        "x + tf.stop_gradient(hard(x) - x).",
    ),
    "outside_tape": Words(
        "This was computed outside the tape's with-block: the tape takes the result for a constant.",
        "Move it into the block of the tape that is asked for the gradient (for a gradient of a gradient, take the "
        "inner one inside the outer tape's block).",
    ),
    "after_tape": Words(
        "This was computed after the tape's with-block had ended: the tape does not know it.",
        "Indent the line into the with-block of the tape.",
    ),
    "other_tape": Words(
        "This was recorded by another tape than the one that is asked for the gradient.",
        "Compute it inside the block of the tape that gives the gradient, or ask the tape that recorded it.",
    ),
    "python_state": Words(
        "This was computed in an earlier step and kept in a Python attribute: for this tape it is a constant.",
        "Compute it anew in every step, inside the tape's with-block.",
    ),
    "stop_recording": Words(
        "This was computed inside tape.stop_recording().",
        "Move it out of the stop_recording block.",
    ),
    "tape_reset": Words(
        "A tape.reset() came after this was computed: the tape has forgotten it.",
        "Remove tape.reset(), or compute this after it.",
    ),
    "not_watched": Words(
        "The tape does not watch {who}: it was made with watch_accessed_variables=False.",
        "Call tape.watch on all the variables, or leave watch_accessed_variables at its default.",
    ),
    "replaced_by_tensor": Words(
        "{who} {is_} no variable but a plain tensor, which no tape watches{what}.",
        "Update the variable in place: w.assign_sub(lr * gradient) instead of w = w - lr * gradient (or call "
        "tape.watch on the tensor).",
    ),
    "integer_variable": Words(
        "{who} {is_} of type {what}: only floating variables have a derivative.",
        "Give it a floating initial value (7.0 instead of 7) or a dtype such as tf.float32.",
    ),
    "not_trainable": Words(
        "{who} {is_} not trainable: a tape does not watch such a variable.",
        "Make it trainable (trainable=True), or do not hand it over: take the gradient of trainable_variables.",
    ),
    "untracked": Words(
        "{who} {takes} part in the forward pass but Keras does not track it: it is no weight of its layer, and no "
        "optimizer ever gets it.",
        "Create it with self.add_weight(...) (or keras.Variable) as an attribute of the layer itself; Keras 3 ignores "
        "a plain tf.Variable.",
    ),
    "not_handed_over": Words(
        "{who} {takes} part in the forward pass and is trainable, but was never handed to gradient or to an optimizer.",
        "Add it to the list of variables for which the gradient is taken, or set trainable=False.",
    ),
    "custom_gradient_none": Words(
        "The gradient function of this tf.custom_gradient returns None for the input that {who} {goes} into.",
        "Return the derivative with respect to that input in the place of None.",
    ),
    "constant_loss": Words(
        "The loss is a constant: it depends on no variable at all.",
        "Compute the loss from the model's output with TensorFlow operations, inside the tape's with-block.",
    ),
    "tape_used_twice": Words(
        "The tape was released by its first gradient call; this is a second one.",
        "Make the tape with tf.GradientTape(persistent=True), use one tape for each loss, or ask for all gradients in "
        "one call.",
    ),
    "gradient_raised": Words(
        "The derivative of {op} failed: {what}.",
        "Compute the same in a way whose derivative exists for these values.",
    ),
    "gradient_call_raised": Words(
        "The gradient call raised an exception: {what}.",
        "Mend what the message says at this line; until then no variable gets a gradient.",
    ),
    "no_second_derivative": Words(
        "A second derivative reaches an operation whose gradient cannot be differentiated again: {what}.",
        "Write this function out with elementary operations (tf.math.log, tf.reduce_sum, …), which can be "
        "differentiated twice, or put tf.stop_gradient around the inner gradient.",
    ),
    "not_vectorised": Words(
        "The method {what} runs the derivatives side by side (pfor), and TensorFlow has no such form of {op}.",
        "Pass experimental_use_pfor=False, or replace the operation.",
    ),
    "none_given": Words(
        "The loss is None: the function that computes it returns nothing.",
        "Return the loss from that function.",
    ),
    "unexplained": Words(
        "No explanation: every operation on the way to the loss seems to have a derivative, and yet TensorFlow answers "
        "None.",
        "",
    ),
    # ---- exact zeros ----
    "py_function_numpy": Words(
        "The Python function inside tf.py_function computes with NumPy: its derivative comes back as 0.",
        "Use TensorFlow operations in its body (tf.tanh(a) instead of np.tanh(a.numpy())), so that it can be "
        "differentiated.",
    ),
    "dead_activation": Words(
        "Every unit of this {op} is off: all its inputs are at or below 0, where its derivative is 0{what}.",
        "Start with a larger bias or smaller weights, lower the learning rate, or use an activation that never goes "
        "flat (LeakyReLU, GELU, ELU); a last layer that predicts numbers needs none.",
    ),
    "saturated_activation": Words(
        "This {op} is saturated: all its outputs are at their limits, where its derivative is exactly 0{what}.",
        "Scale the inputs, start with smaller weights and biases; give logits to the loss (from_logits=True), and use "
        "float32 for the last activation.",
    ),
    "softmax_one_unit": Words(
        "A softmax over a single unit is always 1, and its derivative always 0.",
        'Use activation="sigmoid" for one output, or one unit for each class.',
    ),
    "clipped": Words(
        "Every value lies beyond the limits of this clip, where its derivative is 0{what}.",
        "Widen the limits, start inside them, or use a smooth limit such as tf.tanh or tf.sigmoid.",
    ),
    "ctc_too_short": Words(
        "CTC gives loss 0 and gradient 0 to a sample whose label does not fit into its frames.",
        "Make the labels shorter or the inputs longer (a repeated symbol needs a frame between), or drop such samples; "
        "with ignore_longer_outputs_than_inputs=False it raises instead.",
    ),
    "cumprod_zero": Words(
        "The gradient of tf.math.cumprod divides by its input and answers 0 where an entry is exactly 0{what}.",
        "Keep the entries away from 0, or write the products out with tf.reduce_prod, whose gradient is right at 0.",
    ),
    "zero_weights": Words(
        "The gradient is multiplied by {what}, whose values are all exactly 0.",
        "Initialise that variable with small random numbers (glorot_uniform) instead of zeros.",
    ),
    "zero_factor": Words(
        "The gradient is multiplied here by something that is exactly 0 everywhere{what}.",
        "Look where the zeros come from: a mask, a weight of 0, an input that was never filled.",
    ),
    "zero_input": Words(
        "The gradient is multiplied by an input of the model that is exactly 0 everywhere{what}.",
        "Check the data of this batch and its preparation.",
    ),
    "masked": Words(
        "The tf.where here takes the other branch for every element: nothing of this one reaches the loss{what}.",
        "Check the condition.",
    ),
    "not_chosen": Words(
        "{op} takes the other one of its inputs for every element: nothing of this one reaches the loss{what}.",
        "Check the two against each other; a smooth maximum (tf.reduce_logsumexp) lets both have a derivative.",
    ),
    "zero_derivative": Words(
        "The derivative of {op} is registered as zero everywhere.",
        "Leave it out of the loss, use a smooth function in its place (tf.tanh for tf.sign), or the straight-through "
        "form x + tf.stop_gradient(tf.sign(x) - x).",
    ),
    "zero_wanted": Words(
        "{who} {is_} not connected to the loss, and unconnected_gradients=ZERO answers zeros instead of None.",
        "",
    ),
}

_SINGULAR = {"is_": "is", "takes": "takes", "goes": "goes"}
_PLURAL = {"is_": "are", "takes": "take", "goes": "go"}

FLAT_IN_LOOP = "Inside a loop or a branch the answer is 0 and not None."
"""Said of a cut that yields zeros."""


def words(reason_id: str, who: str, op: str, what: str = "", several: bool = False) -> Words:
    """The sentence and the fix of a reason, filled in.

    Args:
      reason_id: a key of `WORDS`.
      who: names of the variables, listed.
      op: TensorFlow's type of the operation.
      what: a detail; see the sentences.
      several: whether `who` names more than one.
    """
    found = WORDS[reason_id]
    fields = {"who": who or "The variable", "op": op, "what": what}
    fields |= _PLURAL if several else _SINGULAR
    return Words(found.reason.format(**fields), found.fix.format(**fields))


def listed(names: tuple[str, ...], most: int = 3) -> str:
    """Names for a sentence: ``'a', 'b' and 5 more``."""
    quoted = [f"'{name}'" for name in names[:most]]
    if len(names) > most:
        return f"{', '.join(quoted)} and {len(names) - most} more"
    return " and ".join(filter(None, [", ".join(quoted[:-1]), *quoted[-1:]]))
