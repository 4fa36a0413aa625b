"""Scores the explanations: does the first cause name the right line and the right reason?

    python benchmarks/explain_score.py                  # handed cases and the programs seen while building
    python benchmarks/explain_score.py --split once     # the programs kept back until the end of the first version
    python benchmarks/explain_score.py --split blind    # those whose author had not seen the code that explains
    python benchmarks/explain_score.py --mended         # with FIX applied: not one cause may be reported
    python benchmarks/explain_score.py 012 n09          # those whose folder name starts with ...
    python benchmarks/explain_score.py --verify once    # do the programs do what they claim? (no explanations)

Every program runs in a process of its own, through the product (`GradHealthCallback`, `GradHealthWriter.record`,
`v1.GradHealthHook`) and is read back from the log; `--through watch` asks `TapeWatch` directly instead.

A program is a `case.py` with `build()`, `step(state)` and an answer block: KIND, MODE, EXPECT (see tests/cases),
CAUSE_LINE on exactly one line, CAUSE_OP, and optionally CAUSE_FILE (the line is in another file of the folder),
CAUSE_LINES (further lines that tell the reader as much), REASONS (accepted reason ids; CAUSE_OP is always accepted),
NOTEBOOK (run as a notebook cell), STEPS, MISSING, FIX (text replacements that mend it), FIX_FILE.
"""

import argparse
import collections
import contextlib
import importlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from explain_truth import ANSWERS, FitSpy, load, mended, name_of, status, verify, verify_fix

ROOT = Path(__file__).resolve().parent.parent
SPLITS = {
    "handed": ROOT / "tests" / "cases",
    "seen": ROOT / "benchmarks" / "explain_programs" / "seen",
    "once": ROOT / "benchmarks" / "explain_programs" / "once",
    "blind": ROOT / "benchmarks" / "explain_programs" / "blind",
}
MARK = "@@SCORE@@"

# ---- one program --------------------------------------------------------------------------------------------------


def run_watch(module) -> list:
    """Causes as `TapeWatch` gives them, asked as the recording side does."""
    from tb_gradhealth.explain.tape_watch import TapeWatch

    causes: list = []
    watch = TapeWatch(on_causes=causes.extend)
    early = getattr(module, "BUILD_INSIDE", False)
    state = None if early else module.build()
    watch.open()
    try:
        state = module.build() if early else state
        spy = FitSpy(watch) if module.MODE == "fit" else None
        for _ in range(getattr(module, "STEPS", 1)):
            if spy is not None:
                _, fit = module.step(state)
                try:
                    fit(callbacks=[])
                finally:
                    causes += spy.causes
                if spy.last is not None and module.KIND == "zero":
                    gradients, variables = spy.last
                    names = [name_of(v, i) for i, v in enumerate(variables)]
                    ill = [
                        i
                        for i, n in enumerate(names)
                        if module.EXPECT[max((k for k in module.EXPECT if k in n), key=len)] == "zero"
                    ]
                    causes += watch.causes_of(gradients, variables, {"zero": ill})
                continue
            gradients, variables = module.step(state)
            statuses = [status(g) for g in gradients]
            ill = {k: [i for i, s in enumerate(statuses) if s == k] for k in ("none", "zero")}
            if module.MODE == "graph_v1":
                causes += watch.causes_of(state["grads"], variables, ill)
            elif any(ill.values()):
                causes += watch.causes_of(gradients, variables, ill)
        causes += watch.overlooked()
    except Exception as error:
        if getattr(module, "EXPECT_ERROR", "\0") not in f"{type(error).__name__}: {error}":
            raise
        if not causes:
            causes += watch.causes_of_error(error)
    finally:
        watch.close()
    return causes


def run_product(module, directory: str) -> list:
    """Causes after a run through the public API, as the report has them: those of its incidents first."""
    import tb_gradhealth

    error = None
    try:
        if module.MODE == "fit":
            state = module.build()
            for _ in range(getattr(module, "STEPS", 1)):
                _, fit = module.step(state)
                fit(callbacks=[tb_gradhealth.GradHealthCallback(directory)])
        elif module.MODE == "graph_v1":
            state = module.build()
            graph = state["graph"]
            grads = state.get("raw", state["grads"])
            with (
                graph.as_default(),
                tb_gradhealth.v1.GradHealthHook(directory, list(zip(grads, state["variables"], strict=True))) as hook,
            ):
                _run_v1(module, state, hook)
        else:
            with tb_gradhealth.GradHealthWriter(directory) as writer:
                state = module.build()
                for step in range(getattr(module, "STEPS", 1)):
                    gradients, variables = module.step(state)
                    writer.record(gradients, variables, step=step)
    except Exception as raised:
        error = raised
        if getattr(module, "EXPECT_ERROR", "\0") not in f"{type(raised).__name__}: {raised}":
            raise
    from tb_gradhealth.format.reader import find_runs, read_run
    from tb_gradhealth.health import assess

    del error
    found = [assess(read_run(os.path.join(directory, run))) for run in find_runs(directory)]
    of_incidents = [i.cause for health in found for i in health.incidents if i.cause is not None]
    loose = [cause for health in found for cause in health.causes if cause not in of_incidents]
    return list(dict.fromkeys([*of_incidents, *loose]))


def _run_v1(module, state, hook) -> None:
    """Steps of a TensorFlow 1 program, with `hook.rows` fetched in the same `session.run` as the rest."""
    session, original = state["session"], state["session"].run
    rows = []

    def run(fetches, feed_dict=None, **named):
        values, row = original([fetches, hook.rows], feed_dict, **named)
        rows.append(row)
        return values

    session.run = run
    try:
        for _ in range(getattr(module, "STEPS", 1)):
            module.step(state)
            hook.record(rows[-1])
    finally:
        session.run = original


def expected_line(folder: Path, module) -> tuple[str, int, set[int]]:
    file = getattr(module, "CAUSE_FILE", "case.py")
    lines = (folder / file).read_text().partition(ANSWERS)[0].splitlines()
    number = {
        text: [n for n, line in enumerate(lines, 1) if text in line]
        for text in {module.CAUSE_LINE, *getattr(module, "CAUSE_LINES", [])}
    }
    return file, number[module.CAUSE_LINE][0], {n for found in number.values() for n in found}


def judge(folder: Path, module, causes) -> dict:
    kind = {"vanishing": "zero"}.get(module.KIND, module.KIND)
    same = [
        c
        for c in causes
        if c.kind == kind
        or (kind == "error" and c.kind == "none")
        or (kind in ("nan", "inf", "exploding", "overflow") and c.kind not in ("none", "zero"))
    ]
    file, line, accepted = expected_line(folder, module)
    result = {"causes": len(same), "exact": False, "near": False, "reason": False, "shown": ""}
    if same:
        first = same[0]
        here = os.path.basename(first.file) == file or (
            getattr(module, "NOTEBOOK", False) and first.file == module.PATH
        )
        result["exact"] = here and first.line in accepted
        result["near"] = here and any(abs(first.line - n) <= 2 for n in accepted)
        result["reason"] = first.op in {module.CAUSE_OP, *getattr(module, "OPS", [])} or first.reason_id in getattr(
            module, "REASONS", []
        )
        place = f"{os.path.basename(first.file)}:{first.line}"
        result["shown"] = f"{place} {first.reason_id}/{first.op} ({first.certainty}) {first.code[:70]}"
        result["expected"] = f"{file}:{line} {module.CAUSE_OP}"
        result["text"] = [str(c) for c in same]
    return result


def mended_causes(folder: Path) -> list[str]:
    """What the product says of the program with its FIX applied."""
    with tempfile.TemporaryDirectory() as into, contextlib.redirect_stderr(io.StringIO()):
        target = mended(folder, Path(into))
        if target is None:
            return []
        sys.path.insert(0, str(target))
        return [str(cause) for cause in run_product(load(target), os.path.join(into, "logs"))]


def child(folder: Path, task: str) -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.path.insert(0, str(folder))
    out: dict = {"name": folder.name}
    if task == "verify":
        out["problems"] = verify(folder)
    elif task == "fix":
        out["problems"] = verify_fix(folder)
    elif task == "mended":
        out["text"] = mended_causes(folder)
    else:
        module = load(folder)
        out |= {"kind": module.KIND, "mode": module.MODE}
        with tempfile.TemporaryDirectory() as directory, contextlib.redirect_stderr(io.StringIO()):
            causes = run_watch(module) if task == "watch" else run_product(module, directory)
        out |= judge(folder, module, causes)
    print(MARK + json.dumps(out))


def in_fork(folder: Path, task: str) -> dict:
    """The same in a copy of this process, which has TensorFlow imported and has not used it."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    for name in ("tensorflow", "keras", "tf_keras"):
        importlib.import_module(name)
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        os.close(reading)
        signal.alarm(300)
        os.dup2(writing, 1)
        try:
            child(folder, task)
        except BaseException as error:
            print(MARK + json.dumps({"name": folder.name, "crashed": f"{type(error).__name__}: {error}"[:1500]}))
        sys.stdout.flush()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        told = stream.read()
    os.waitpid(process, 0)
    return (
        json.loads(told.split(MARK)[1]) if MARK in told else {"name": folder.name, "crashed": "timed out or was killed"}
    )


# ---- all programs -------------------------------------------------------------------------------------------------


def run_all(folders: list[Path], task: str, jobs: int) -> list[dict]:
    if jobs == 1 and hasattr(os, "fork"):
        return [in_fork(folder, task) for folder in folders]

    def one(folder: Path) -> dict:
        command = [sys.executable, os.path.abspath(__file__), "--child", task, str(folder)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=ROOT, check=False)
        except subprocess.TimeoutExpired:
            return {"name": folder.name, "crashed": "timed out"}
        if MARK not in done.stdout:
            return {"name": folder.name, "crashed": done.stderr[-1500:]}
        return json.loads(done.stdout.split(MARK)[1])

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(one, folders))


def table(results: list[dict], title: str, verbose: bool) -> None:
    groups: dict[str, list[dict]] = collections.defaultdict(list)
    for result in results:
        if "crashed" in result:
            mark = "CRASH"
        else:
            line = "line" if result["exact"] else "near" if result["near"] else "----"
            mark = f"{line} {'reason' if result['reason'] else '------'}"
        group = {"error": "none", "inf": "nan", "exploding": "nan"}.get(
            result.get("kind", "?"), result.get("kind", "?")
        )
        groups[group].append(result)
        if verbose or mark != "line reason":
            print(f"{mark:12} {result['name']:<40} {result.get('shown', '')}")
            if mark != "line reason":
                print(f"{'':12} expected {result.get('expected', '')} {result.get('crashed', '')}")
    print(f"\n{title:<22}{'programs':>9}{'line':>12}{'±2 lines':>12}{'reason':>12}")
    for group in ("none", "zero", "nan", "?"):
        rows = groups.get(group)
        if rows:
            counts = [sum(bool(r.get(key)) for r in rows) for key in ("exact", "near", "reason")]
            print(f"{group:<22}{len(rows):>9}" + "".join(f"{c:>5} {100 * c / len(rows):>4.0f} %" for c in counts))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="only programs whose folder begins with one of these")
    parser.add_argument("--split", action="append", choices=[*SPLITS], help="default: handed and seen")
    parser.add_argument("--kinds", default="none,zero,error,nan,inf,exploding", help="kinds to score")
    parser.add_argument("--through", choices=("product", "watch"), default="product")
    parser.add_argument("--verify", choices=[*SPLITS])
    parser.add_argument("--mended", action="store_true", help="the programs with their FIX applied")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("-v", "--verbose", action="store_true", help="show the programs that are right, too")
    parser.add_argument("--text", action="store_true", help="print every cause in full")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(Path(options.child[1]), options.child[0])
        return 0
    bad = 0
    for split in [options.verify] if options.verify else options.split or ["handed", "seen"]:
        folders = sorted(p.parent for p in SPLITS[split].glob("*/case.py"))
        folders = [p for p in folders if not options.names or any(p.name.startswith(n) for n in options.names)]
        if options.verify:
            for task in ("verify", "fix"):
                for result in run_all(folders, task, options.jobs):
                    problems = result.get("problems", [result.get("crashed")])
                    bad += bool(problems)
                    print(f"{'FAIL' if problems else 'PASS'} {task:6} {result['name']} {'; '.join(map(str, problems))}")
            continue
        kinds = set(options.kinds.split(","))
        folders = [p for p in folders if any(f'KIND = "{kind}"' in (p / "case.py").read_text() for kind in kinds)]
        results = run_all(folders, "mended" if options.mended else options.through, options.jobs)
        if options.mended:
            for result in results:
                told = [result["crashed"]] if "crashed" in result else result["text"]
                bad += bool(told)
                if told or options.verbose:
                    print(f"{'WRONG' if told else 'quiet'} {result['name']} {' '.join(told)}")
            print(f"{split}, mended: {sum(r.get('text') == [] for r in results)} of {len(results)} without a cause")
            continue
        table(results, f"{split} ({options.through})", options.verbose)
        if options.text:
            for result in results:
                print(f"\n==== {result['name']}")
                print("\n".join(result.get("text", [])))
    return 1 if bad else 0


if __name__ == "__main__":
    importlib.invalidate_caches()
    sys.exit(main())
