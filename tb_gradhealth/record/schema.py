"""From variables to the schema of a group: names, shapes, roles. Knows no more of Keras than its attribute names."""

import dataclasses
import platform
import sys
import time
from collections.abc import Collection, Sequence
from typing import Any

import tensorflow as tf

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.tags import FORMAT_VERSION
from tb_gradhealth.health import Thresholds
from tb_gradhealth.record.clipping import NO_CLIPPING, Clipping

_last_generation = [0]


@dataclasses.dataclass(frozen=True)
class GroupFacts:
    """What a schema says of a group besides its variables.

    Attributes:
      hooked: ``"keras.fit"``, ``"watch"``, ``"record"`` or ``"v1"``.
      optimizer: class name, or empty.
      every: ``"auto"`` or the window width in steps.
      clipping: the optimizer's thresholds.
      replicas: at least 1.
    """

    hooked: str
    optimizer: str = ""
    every: int | str = "auto"
    clipping: Clipping = NO_CLIPPING
    replicas: int = 1


@dataclasses.dataclass(frozen=True)
class Entry:
    """A variable of a schema and its part in training."""

    variable: Any
    role: "pb.Variable.Role" = pb.Variable.TRAINED


def key_of(variable: Any) -> Any:
    """The same for the same variable, however it is handed over (Keras's, TensorFlow's, one replica's copy)."""
    variable = tf_variable(variable)
    try:
        container = getattr(variable, "_distributed_container", None)
        if container is None:
            container = getattr(getattr(variable, "handle", None), "_distributed_container", None)
        if callable(container):
            variable = container() or variable
        unique = getattr(variable, "_unique_id", None)
    except Exception:  # distributed variables have no handle here; others may have lost their graph
        unique = getattr(variable, "_unique_id", None)
    return unique if unique is not None else id(variable)


def tf_variable(variable: Any) -> Any:
    """TensorFlow's variable behind a Keras one; anything else as it is."""
    if isinstance(variable, tf.Variable):
        return variable
    value = getattr(variable, "value", None)
    return value if isinstance(value, tf.Variable) else variable


def name_of(variable: Any, index: int) -> str:
    """The variable's path in Keras, else its name without ``:0``, else its place in the list."""
    for attribute in ("path", "name"):
        try:
            name = getattr(variable, attribute)
        except Exception:  # eager tensors raise when asked for a name
            continue
        if isinstance(name, str) and name:
            return name.removesuffix(":0")
    return f"variable_{index}"


def build_schema(
    group: str,
    entries: Sequence[Entry],
    facts: GroupFacts,
    ignore: Collection[str] = (),
    thresholds: Thresholds | None = None,
) -> pb.Schema:
    """A schema with a generation of its own, and what the user changed of the limits.

    Variables that share a name are told apart by their place.
    """
    schema = pb.Schema(
        format_version=FORMAT_VERSION,
        group=group,
        generation=new_generation(),
        replicas=facts.replicas,
        hooked=facts.hooked,
        start_time=time.time(),
        every=str(facts.every),
        norm_of="replica gradient" if facts.replicas > 1 else "gradient",
        optimizer=facts.optimizer,
        software=software(),
        thresholds=(thresholds or Thresholds()).changed(),
        ignore=sorted(ignore),
    )
    clipping = {
        "clip_norm": facts.clipping.norm,
        "global_clip_norm": facts.clipping.global_norm,
        "clip_value": facts.clipping.value,
    }
    for field, value in clipping.items():
        if value is not None:
            setattr(schema, field, value)
    for index, entry in enumerate(entries):
        schema.variables.append(_variable(entry, index, ignore))
    return schema


def new_generation() -> int:
    """Milliseconds since the epoch, and larger than any before in this process."""
    _last_generation[0] = max(int(time.time() * 1000), _last_generation[0] + 1)
    return _last_generation[0]


def software() -> dict[str, str]:
    """Versions of what made the record, by name."""
    from tb_gradhealth import __version__

    versions = {"tb_gradhealth": __version__, "tensorflow": tf.__version__, "python": platform.python_version()}
    for name in ("keras", "tf_keras"):
        module = sys.modules.get(name)
        if module is not None and hasattr(module, "__version__"):
            versions[name] = module.__version__
    return versions


def is_ignored(name: str, ignore: Collection[str]) -> bool:
    """Whether the user expects no gradient for the variable: its name, its end, or a layer around it is in `ignore`."""
    parts = f"/{name}/"
    return any(f"/{entry.strip('/')}/" in parts for entry in ignore)


def _variable(entry: Entry, index: int, ignore: Collection[str]) -> pb.Variable:
    variable = entry.variable
    name = name_of(variable, index)
    shape = _shape(variable)
    size = 1
    for length in shape:
        size *= max(length, 0)
    return pb.Variable(
        name=name,
        shape=shape,
        dtype=tf.as_dtype(variable.dtype).name,
        size=size,
        layer=name.rpartition("/")[0],
        role=entry.role,
        expected_none=is_ignored(name, ignore),
    )


def _shape(variable: Any) -> list[int]:
    shape = tf.TensorShape(variable.shape)
    if shape.rank is None:
        return [-1]
    return [-1 if length is None else int(length) for length in shape]
