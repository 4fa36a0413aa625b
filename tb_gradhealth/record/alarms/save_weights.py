"""An alarm that saves the weights from before the update that broke them, and reading them back.

A file is a NumPy ``.npz`` of one array per variable, by name, and one entry `ABOUT` with JSON: the step, the incident,
and what the weights are. It is on any filesystem TensorFlow writes to.
"""

import io
import json
import os
import sys
from collections.abc import Collection, Iterable, Sequence
from typing import Any, cast

import numpy as np
import tensorflow as tf

from tb_gradhealth.format.causes import Cause
from tb_gradhealth.health import Incident
from tb_gradhealth.record.alarms.alarm import Alarm, Training
from tb_gradhealth.record.evidence import KeptStep
from tb_gradhealth.record.schema import name_of, tf_variable
from tb_gradhealth.record.withholding import RECORD

ABOUT = "tb_gradhealth"
"""The entry of a file that says what it is."""

BEFORE = "before the update of the bad step"
LAST_GOOD = "as they are; every update that was not finite has been withheld"
PRESENT = "as they were when the incident was found"


class SaveWeights(Alarm):
    """Saves the weights from before the update that was not finite.

    ```python
    saving = tb_gradhealth.alarms.SaveWeights("rescued")
    model.fit(x, y, callbacks=[GradHealthCallback("logs/run1", on_incident=saving)])
    ...
    tb_gradhealth.alarms.restore("rescued/adam-step-48312-nan.npz", model)
    ```

    What is guaranteed, for NaN and Inf:

    - ``on_nonfinite="stop"``: the weights are bit for bit those after the last good step.
    - ``on_nonfinite="skip"``: no update that was not finite is in them; good updates may have followed by the time
      the incident is found.
    - ``on_nonfinite="record"``, and `GradHealthWriter`: the weights are those that the bad step's gradients were taken
      at, copied inside the step before the optimizer changed them, however late the incident is found. That is so for
      the first bad step of each traced function; in eager mode, of a step without detailed numbers (`detail`, the first
      step is one with them). Weights that the forward pass changes by itself (the moving
      statistics of batch normalisation) have seen the bad batch by then. Where the step could not be kept (more than
      2,000 tensors; under XLA, weights too large to be held twice) nothing is saved, and one line says so.

    Of other kinds of incidents the weights are saved as they are when the incident is found. The state of the
    optimizer is not saved. The training waits while a file is written.

    Args:
      directory: where to write; made if it is not there.
      kinds: of incidents.
      limit: files written at most.

    Attributes:
      paths: the files written.

    Raises:
      TypeError, ValueError: an argument is not what it should be.
    """

    def __init__(self, directory: Any, *, kinds: Collection[str] = ("nan", "inf"), limit: int = 3) -> None:
        super().__init__(kinds, "info")
        if not isinstance(directory, str | os.PathLike) or not os.fspath(directory):
            raise TypeError(
                f"`directory` must be a path (a str or os.PathLike). Received: directory={directory!r}. "
                "Pass the folder that the weights are to be written to."
            )
        if not isinstance(limit, int) or limit < 1:
            raise ValueError(f"`limit` must be a number of files, at least 1. Received: limit={limit!r}.")
        self._directory = os.fspath(directory)
        self._limit = limit
        self._training: Training | None = None
        self._kept: dict[str, KeptStep] = {}
        self._done: set[tuple[str, int]] = set()
        self.paths: list[str] = []

    def begin(self, training: Training) -> None:
        self._training = training
        if training.evidence is not None and training.on_nonfinite == RECORD:
            training.evidence.register(self._keep)

    def _keep(self, kept: KeptStep) -> Sequence[Cause]:
        self._kept[kept.group] = kept
        return ()

    def raised(self, incident: Incident) -> None:
        if self._training is None or len(self.paths) >= self._limit:
            return
        kept = self._kept.get(incident.group)
        if kept is not None and not incident.first_step <= kept.step <= incident.last_step:
            kept = None
        if (incident.group, incident.first_step) in self._done:
            return  # the NaN and the Inf of one step
        self._done.add((incident.group, incident.first_step))
        if incident.kind not in ("nan", "inf"):
            found, what = _present(self._training), PRESENT
        elif self._training.on_nonfinite != RECORD:
            found, what = _present(self._training), LAST_GOOD
        elif kept is not None and kept.before:
            found, what = [(variable, np.asarray(value)) for variable, value in kept.before], BEFORE
        else:
            why = (
                kept.why_not if kept is not None else ""
            ) or "only the first bad step of a function is kept, and no eager one with detailed numbers"
            print(
                f"tb_gradhealth: the weights from before step {incident.first_step} are not saved: {why}. "
                'on_nonfinite="stop" or "skip" would keep them.',
                file=sys.stderr,
                flush=True,
            )
            return
        name = f"{incident.group}-step-{incident.first_step}-{incident.kind}.npz".replace("/", "_")
        path = f"{self._directory.rstrip('/')}/{name}"
        self._write(path, found, {"step": incident.first_step, "kind": incident.kind, "weights": what})
        self.paths.append(path)
        print(f"tb_gradhealth: weights saved to {path} ({what}).", file=sys.stderr, flush=True)

    def _write(self, path: str, found: Sequence[tuple[Any, Any]], about: dict[str, Any]) -> None:
        names = unique_names([variable for variable, _ in found])
        dtypes = [tf.as_dtype(variable.dtype).name for variable, _ in found]
        arrays = {f"{index}": storable(value) for index, (_, value) in enumerate(found)}
        text = json.dumps({**about, "names": names, "dtypes": dtypes})
        stream = io.BytesIO()
        np.savez(stream, **cast(Any, {**arrays, ABOUT: np.array(text)}))
        tf.io.gfile.makedirs(self._directory)
        with tf.io.gfile.GFile(path, "wb") as file:
            file.write(stream.getvalue())

    def __deepcopy__(self, memo: object) -> "SaveWeights":
        return SaveWeights(self._directory, kinds=self._kinds or (), limit=self._limit)


def restore(path: Any, model: Any) -> dict[str, Any]:
    """Gives variables the values of a file that `SaveWeights` wrote.

    Args:
      path: of the file.
      model: a model (all its weights are looked for), or variables. They are found by name, else by their order.

    Returns:
      What is said of the file: ``step``, ``kind``, ``weights`` (what they are).

    Raises:
      ValueError: the variables are not those of the file.
    """
    variables = list(model.weights) if hasattr(model, "weights") else list(model)
    with tf.io.gfile.GFile(os.fspath(path), "rb") as file:
        archive = np.load(io.BytesIO(file.read()), allow_pickle=False)
    about = json.loads(str(archive[ABOUT]))
    values = [
        np.asarray(archive[str(i)]).view(tf.as_dtype(dtype).as_numpy_dtype) for i, dtype in enumerate(about["dtypes"])
    ]
    by_name = dict(zip(about["names"], values, strict=True))
    names = unique_names(variables)
    if not set(names) <= set(by_name):
        by_name = dict(zip(names, values, strict=False)) if len(names) == len(values) else by_name
    for name, variable in zip(names, variables, strict=True):
        if name not in by_name or by_name[name].shape != tuple(variable.shape):
            held = f"of shape {by_name[name].shape}" if name in by_name else "not in the file"
            raise ValueError(
                f"The file does not fit these variables. Received: {name!r} of shape {tuple(variable.shape)}, which is "
                f"{held}. Pass the model that was trained, built as it was then."
            )
    for name, variable in zip(names, variables, strict=True):
        variable.assign(by_name[name])
    return {key: about[key] for key in ("step", "kind", "weights")}


def storable(value: Any) -> Any:
    """The array as NumPy can store it: bfloat16 and its like as the bits they are."""
    array = np.asarray(value)
    return array.view(f"u{array.dtype.itemsize}") if array.dtype.kind == "V" or array.dtype.isbuiltin == 2 else array


def unique_names(variables: Iterable[Any]) -> list[str]:
    """A name for each variable; those that share one are told apart by a number."""
    names: list[str] = []
    taken: dict[str, int] = {}
    for index, variable in enumerate(variables):
        name = name_of(variable, index)
        taken[name] = taken.get(name, 0) + 1
        names.append(name if taken[name] == 1 else f"{name}#{taken[name]}")
    return names


def _present(training: Training) -> list[tuple[Any, Any]]:
    return [(variable, tf_variable(variable).numpy()) for variable in training.variables()]
