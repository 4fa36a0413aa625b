"""Runs a case of `tests/cases` through the product: the callback, the writer or the TensorFlow 1 hook."""

import dataclasses
import os
import pathlib
import re
import tempfile
import types
import warnings
from typing import Any

import numpy as np

from tb_gradhealth.format.log import RunLog
from tb_gradhealth.format.reader import read_run
from tb_gradhealth.format.states import State

CASES = pathlib.Path(__file__).parent.parent / "cases"
WORD = {State.FINITE: "ok", State.ZERO: "zero", State.NONE: "none", State.INF: "inf", State.NAN: "nan"}


@dataclasses.dataclass
class Ran:
    """What running a case left: its log, and the text of the exception it raised, if it did."""

    run: RunLog
    error: str | None

    def states(self, step: int = -1) -> dict[str, str]:
        """Word for the state of each variable at a recorded step, -1 for the last."""
        (group,) = self.run.groups.values()
        windows = group.windows
        rows = windows.state_last[step]
        count = len(group.schema.variables)
        worst = rows.reshape(-1, count).max(axis=0)
        words: dict[str, str] = {}
        for variable, state in zip(group.schema.variables, worst, strict=True):
            if variable.role == 0:
                name = variable.name
                while name in words:
                    name += "'"
                words[name] = WORD[State(state)]
        return words


def names() -> list[str]:
    return sorted(path.parent.name for path in CASES.glob("*/case.py"))


def load(name: str, fixed: bool = False) -> types.ModuleType:
    """The case as a module; with its fix applied if `fixed`."""
    path = CASES / name / "case.py"
    text = path.read_text()
    if fixed:
        scope: dict[str, Any] = {}
        head, mark, answers = text.partition("# ---- answers ----")
        exec(answers, scope)
        for old, new in scope["FIX"]:
            assert head.count(old) == 1, old
            head = head.replace(old, new)
        text = head + mark + answers
        path = pathlib.Path(tempfile.mkdtemp()) / "case.py"
        path.write_text(text)
    module = types.ModuleType("case")
    module.__file__ = str(path)
    exec(compile(text, str(path), "exec"), module.__dict__)
    return module


def run(module: types.ModuleType, log_dir: str, *, plain: bool = False) -> Ran:
    """Builds and steps the case, recorded into `log_dir`, or not recorded at all if `plain`."""
    state = module.build()
    steps = getattr(module, "STEPS", 1)
    run_mode = {"fit": _fit, "graph_v1": _session, "eager": _writer, "function": _writer}[module.MODE]
    error = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            run_mode(module, state, steps, None if plain else log_dir)
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
    directory = os.path.join(log_dir, "gradhealth")
    return Ran(read_run(directory), error)


def _fit(module: Any, state: Any, steps: int, log_dir: str | None) -> None:
    import tb_gradhealth

    callbacks = [] if log_dir is None else [tb_gradhealth.GradHealthCallback(log_dir)]
    for _ in range(steps):
        _, fit = module.step(state)
        fit(callbacks=callbacks)


def _writer(module: Any, state: Any, steps: int, log_dir: str | None) -> None:
    import tb_gradhealth

    if log_dir is None:
        for _ in range(steps):
            module.step(state)
        return
    with tb_gradhealth.GradHealthWriter(log_dir) as writer:
        for step in range(steps):
            gradients, variables = module.step(state)
            writer.record(gradients, variables, step=step)


def _session(module: Any, state: Any, steps: int, log_dir: str | None) -> None:
    import tb_gradhealth

    if log_dir is None:
        for _ in range(steps):
            module.step(state)
        return
    pairs = zip(state["grads"], state["variables"], strict=True)
    with tb_gradhealth.v1.GradHealthHook(log_dir, pairs, loss=state["loss"]) as hook:
        state["session"] = _Fetching(state["session"], hook)
        for _ in range(steps):
            module.step(state)


class _Fetching:
    """A session that fetches a hook's rows with whatever is fetched."""

    def __init__(self, session: Any, hook: Any) -> None:
        self._session, self._hook = session, hook

    def run(self, fetches: Any, feed: Any) -> Any:
        values, rows = self._session.run([fetches, self._hook.rows], feed)
        self._hook.record(rows)
        return values


def expected_of(expect: dict[str, str], names: list[str]) -> dict[str, str]:
    """The word that EXPECT gives each variable: that of the longest key within its name."""
    return {name: expect[max((key for key in expect if key in name), key=len)] for name in names}


def normalised(error: str | None) -> str | None:
    """An error's first line, without the addresses and counters that differ from run to run (the rest is a stack)."""
    if error is None:
        return None
    return re.sub(r"0x[0-9a-f]+|\b_\d+\b|_\d+", "", error.strip().splitlines()[0])


def norms(ran: Ran) -> Any:
    (group,) = ran.run.groups.values()
    return np.asarray(group.windows.norm_last)
