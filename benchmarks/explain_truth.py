"""The programs that explanations are scored on: loading and mending them, and what their gradients truly are.

Knows nothing of the product but `TapeWatch`, which `FitSpy` may ask while Keras traces.
"""

import contextlib
import linecache
import tempfile
import types
from pathlib import Path

WIDEST = 512
ANSWERS = "# ---- answers ----"


def load(folder: Path, text: str | None = None):
    """The program of a folder as a module; a notebook's program lives in `linecache` only, as a cell does."""
    path = str(folder / "case.py")
    source = text if text is not None else Path(path).read_text()
    module = types.ModuleType("case")
    module.__file__ = path
    if "NOTEBOOK = True" in source:
        path = "<ipython-input-3-gradhealth>"
        lines = source.splitlines(keepends=True)
        linecache.cache[path] = (len(source), None, lines, path)
    exec(compile(source, path, "exec"), module.__dict__)
    module.PATH = path
    return module


def mended(folder: Path, into: Path) -> Path | None:
    """A copy of a program's folder with its FIX applied; None if it has none."""
    answers: dict = {}
    head, _, tail = (folder / "case.py").read_text().partition(ANSWERS)
    exec(tail, answers)
    if not answers.get("FIX"):
        return None
    target = into / folder.name
    target.mkdir(parents=True, exist_ok=True)
    for file in folder.glob("*.py"):
        text = file.read_text()
        if file.name == answers.get("FIX_FILE", "case.py"):
            body = head if file.name == "case.py" else text
            for old, new in answers["FIX"]:
                if body.count(old) != 1:
                    raise ValueError(f"{folder.name}: FIX text occurs {body.count(old)} times: {old!r}")
                body = body.replace(old, new)
            text = body + (ANSWERS + tail if file.name == "case.py" else "")
        (target / file.name).write_text(text)
    return target


def status(gradient):
    import numpy as np

    if gradient is None:
        return "none"
    if hasattr(gradient, "values") and hasattr(gradient, "indices"):
        gradient = gradient.values
    values = np.asarray(gradient, dtype="float64")
    if np.isnan(values).any():
        return "nan"
    if np.isinf(values).any():
        return "inf"
    return "ok" if values.any() else "zero"


def name_of(variable, place):
    for attribute in ("path", "name"):
        with contextlib.suppress(Exception):
            name = getattr(variable, attribute)
            if isinstance(name, str) and name:
                return name
    return f"<tensor {place}>"


class FitSpy:
    """Sees what reaches the optimizer in `fit`; asks a TapeWatch about None while tracing, if one is given."""

    def __init__(self, watch=None):
        self.watch = watch
        self.causes = []
        import tensorflow as tf

        self.codes = tf.Variable(
            tf.zeros([2, WIDEST], tf.int32), trainable=False
        )  # made here: no function may make one
        self.count = tf.Variable(0, trainable=False)
        self.names = []
        self.mask = {}
        self.depth = 0
        self.last = None
        import keras
        from keras.src.optimizers import base_optimizer

        self._patch(
            base_optimizer.BaseOptimizer,
            "apply",
            lambda o, g, v=None: (g, v if v is not None else o._trainable_variables),
        )
        self._patch(
            keras.optimizers.LossScaleOptimizer,
            "apply",
            lambda o, g, v=None: (g, v if v is not None else o._trainable_variables),
        )
        with contextlib.suppress(ImportError):
            from tf_keras.src.optimizers import optimizer as legacy

            self._patch(legacy.Optimizer, "apply_gradients", lambda o, p, *a, **k: zip(*list(p), strict=True))

    def _patch(self, owner, name, pairs):
        original, spy = owner.__dict__[name], self

        def patched(optimizer, *args, **named):
            if name == "apply_gradients" or args:
                args = (list(args[0]), *args[1:])
            if spy.depth == 0:
                spy.see(*(list(x) for x in pairs(optimizer, *args, **named)))
            spy.depth += 1
            try:
                return original(optimizer, *args, **named)
            finally:
                spy.depth -= 1

        setattr(owner, name, patched)

    def see(self, gradients, variables):
        import tensorflow as tf

        names = [name_of(v, i) for i, v in enumerate(variables)]
        none = [i for i, g in enumerate(gradients) if g is None]
        self.mask = {names[i]: "none" for i in none}
        self.last = (gradients, variables)
        if none and self.watch is not None:
            self.causes += self.watch.causes_of(gradients, variables, {"none": none})
        live = [
            (n, g.values if isinstance(g, tf.IndexedSlices) else g)
            for n, g in zip(names, gradients, strict=True)
            if g is not None
        ]

        if self.watch is None and live:
            self.names = [n for n, _ in live]
            now = tf.stack([_code(g) for _, g in live])
            now = tf.pad(now, [[0, WIDEST - len(live)]])
            self.codes.assign(tf.stack([tf.where(tf.equal(self.count, 0), now, self.codes[0]), now]))
            self.count.assign_add(1)

    def rows_seen(self):
        """Statuses at the first and at the last step since the last call; the mask of a step that did not run."""
        if not int(self.count):
            return dict(self.mask), dict(self.mask)
        words = ("zero", "ok", "inf", "nan")
        rows = [
            dict(self.mask) | {n: words[c] for n, c in zip(self.names, row, strict=False)} for row in self.codes.numpy()
        ]
        self.count.assign(0)
        return rows[0], rows[1]


def _code(gradient):
    """0 zero, 1 finite, 2 Inf, 3 NaN, computed in the graph so that it works under XLA."""
    import tensorflow as tf

    g = tf.cast(gradient, tf.complex64 if gradient.dtype.is_complex else tf.float32)
    g = tf.abs(g)
    bad = tf.where(tf.reduce_any(tf.math.is_nan(g)), 3, 2)
    finite = tf.reduce_all(tf.math.is_finite(g))
    return tf.where(finite, tf.cast(tf.reduce_any(g != 0.0), tf.int32), bad)


def run_verify(module):
    """Statuses of all gradients after the last step, after the first, and the error that was raised."""
    first = last = error = None
    try:
        state = module.build()
        spy = FitSpy() if module.MODE == "fit" else None
        for step in range(getattr(module, "STEPS", 1)):
            if spy is not None:
                _, fit = module.step(state)
                try:
                    fit(callbacks=[])
                finally:
                    begun, last = spy.rows_seen()
                    first = begun if step == 0 else first
                continue
            gradients, variables = module.step(state)
            last = {}
            for place, (gradient, variable) in enumerate(zip(gradients, variables, strict=True)):
                name = name_of(variable, place)
                while name in last:
                    name += "'"
                last[name] = status(gradient)
            first = last if step == 0 else first
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
    return first, last, error


def mismatch(expect, row):
    problems = []
    for name, got in (row or {}).items():
        keys = [key for key in expect if key in name]
        want = expect[max(keys, key=len)] if keys else "(no key)"
        if got != want:
            problems.append(f"{name}: expected {want}, saw {got}")
    problems += [f"{key!r} matches no variable" for key in expect if not any(key in name for name in (row or {}))]
    return problems


def verify(folder: Path) -> list[str]:
    """What is wrong with a program itself."""
    module = load(folder)
    problems = []
    cause_text = (folder / getattr(module, "CAUSE_FILE", "case.py")).read_text().partition(ANSWERS)[0]
    for line in {module.CAUSE_LINE, *getattr(module, "CAUSE_LINES", [])}:
        hits = [n for n, text in enumerate(cause_text.splitlines(), 1) if line in text]
        if len(hits) != 1:
            problems.append(f"CAUSE_LINE {line!r} on lines {hits}")
    first, last, error = run_verify(module)
    wanted = getattr(module, "EXPECT_ERROR", None)
    if (error is None) != (wanted is None) or (wanted and wanted not in error):
        problems.append(f"raised {error}")
    if module.EXPECT or not wanted:
        problems += mismatch(module.EXPECT, last)
    if hasattr(module, "EXPECT_FIRST"):
        problems += [f"step 1: {p}" for p in mismatch(module.EXPECT_FIRST, first)]
    for key in getattr(module, "MISSING", []):
        if any(key in name for name in last or {}):
            problems.append(f"{key} is among the variables")
    return problems


def verify_fix(folder: Path) -> list[str]:
    with tempfile.TemporaryDirectory() as into:
        target = mended(folder, Path(into))
        if target is None:
            return []
        module = load(target)
        _, last, error = run_verify(module)
    problems = [f"mended: {name} is {got}" for name, got in (last or {}).items() if got != "ok"]
    problems += [f"mended: raised {error}"] if error else []
    for key in getattr(module, "MISSING", []):
        if not any(key in name for name in last or {}):
            problems.append(f"mended: {key} is still missing")
    return problems
