"""Every private name of TensorFlow is there in the installed version; `make test-tensorflow` asks the others."""

import pytest
import tensorflow as tf

from tb_gradhealth.explain import private

NAMES = [name for name, value in vars(private).items() if name.startswith("_") and not name.startswith("__")]


@pytest.mark.parametrize("name", NAMES)
def test_it_was_found(name):
    assert getattr(private, name) is not None


def test_there_are_names_to_check():
    assert {"_execute", "_gradient_registry", "_eager_tensor", "_session", "_record_module"} <= set(NAMES)


def test_a_name_that_is_gone_is_found_to_be_missing(monkeypatch):
    assert private._find("tensorflow.python.eager.execute", "no_such_name") is None
    monkeypatch.setattr(private, "_atomic_function", None)
    with pytest.raises(private.Missing, match=r"tb_gradhealth knows TensorFlow 2\.16 to 2\.21"):
        private.function_class()


def test_what_they_stand_for_works():
    with private.eager_mode():
        (total,) = private.execute("AddV2", [tf.constant(1.0), tf.constant(2.0)], ["T", tf.float32.as_datatype_enum], 1)
    assert float(total) == 3.0
    assert private.registered_gradient("Unique") == private.NOT_REGISTERED
    assert private.registered_gradient("ArgMax") in (private.NOT_DIFFERENTIABLE, private.REGISTERED)
    assert private.registered_gradient("MatMul") == private.REGISTERED
    assert private.is_trainable(total) and not private.is_trainable(tf.constant(1))
    first, second = tf.constant(1.0), tf.constant(1.0)
    assert private.tensor_id(first) != private.tensor_id(second)
    assert private.tape_methods() == ("_push_tape", "_pop_tape")
    assert private.watches_all(tf.GradientTape()) and not private.watches_all(
        tf.GradientTape(watch_accessed_variables=False)
    )
    assert private.gradients_module() is not None and private.eager_tensor_class() is not None
    assert private.session_class() in tf.compat.v1.Session.__mro__
    variable = tf.Variable(1.0)
    assert isinstance(variable, private.resource_variable_class())
    assert private.dtype_behind(variable.handle) == tf.float32


def test_operations_are_told_of_and_the_callback_comes_off():
    seen = []

    def callback(kind, inputs, attrs, outputs, op_name=None, graph=None):
        seen.append(kind)

    private.add_op_callback(callback)
    assert private.is_only_op_callback()
    tf.add(1.0, 2.0)
    private.remove_op_callback(callback)
    tf.subtract(1.0, 2.0)
    assert "AddV2" in [kind if isinstance(kind, str) else kind.decode() for kind in seen]
    assert "Sub" not in [kind if isinstance(kind, str) else kind.decode() for kind in seen]
