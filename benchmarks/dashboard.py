"""How the dashboard does on large logs, with each of TensorBoard's loaders.

    python benchmarks/dashboard.py                       # the two large logs, both loaders, the browser: ten minutes
    python benchmarks/dashboard.py --scale 0.05          # the same, small
    python benchmarks/dashboard.py --shape 500x100000 --loader rust --no-browser

Builds logs with the real writer, starts a real TensorBoard, and prints: how long a tile takes beside a NumPy pass over
the same records; what a refresh of a growing run costs early and late; the server's memory; bytes sent; and, in
headless Chromium, opening the Grad Health tab beside opening TensorBoard's Time Series tab on one scalar per variable
with the same numbers. Needs the development requirements. Times are wall times on this machine, of the client.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from dashboard_board import Board, tensorboard
from dashboard_browser import chromium, move, open_grad_health, open_time_series
from dashboard_logs import GrowingRun, Shape, write_scalars

from tb_gradhealth.format.reader import read_run

COLUMNS = 1500
REPEATS = 5
RUN = "run/gradhealth"
RUNS = ("a/gradhealth", "b/gradhealth", "c/gradhealth")
EARLY_STEPS = 10_000
NEW_RECORDS = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--shape", action="append", type=_shape, help="VARIABLESxSTEPS, auto windows; VARIABLESxSTEPS/N: every N steps"
    )
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of variables and steps")
    parser.add_argument("--loader", choices=("rust", "python", "both"), default="both")
    parser.add_argument("--no-browser", action="store_true")
    parser.add_argument("--no-time-series", action="store_true", help="open the Grad Health tab only")
    args = parser.parse_args()
    shapes = args.shape or [Shape(1_000, 1_000_000), Shape(2_000, 20_000, 1)]
    loaders = ("rust", "python") if args.loader == "both" else (args.loader,)
    for shape in shapes:
        scaled = Shape(max(1, int(shape.variables * args.scale)), max(100, int(shape.steps * args.scale)), shape.every)
        folder = Path(tempfile.mkdtemp(prefix="gradhealth_bench_"))
        try:
            measure(folder, scaled, loaders, browser=not args.no_browser, series=not args.no_time_series)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def measure(folder: Path, shape: Shape, loaders: Sequence[str], *, browser: bool, series: bool) -> None:
    """Prints everything about one shape of log."""
    begin = time.monotonic()
    run = GrowingRun(folder / "ours" / "run", shape)
    print(f"\n{shape.variables:,} variables × {shape.steps:,} steps, every={shape.every}")
    say("log", f"{run.nbytes / 1e6:.0f} MB, written in {time.monotonic() - begin:.1f} s")
    passes = numpy_passes(run)
    say("NumPy pass", ", ".join(f"{n} {t * 1e3:.1f} ms" for n, t in passes.items()) + f" to {COLUMNS} columns")
    for loader in loaders:
        print(f"  {loader} loader")
        with tensorboard(folder / "ours", loader) as board:
            board.wait_for_step(RUN, run.last_step)
            before = board.memory()
            answers(board, run, min(passes.values()))
            memory(board, before, run)
            refresh(board, run, f"refresh at step {run.last_step:,}")
            if browser:
                with chromium() as found:
                    for word in ("again", "and again"):
                        opened = open_grad_health(found, board.url, RUN, shape.variables)
                        say(f"tab opened {word}", f"{opened.seconds:.2f} s, {opened.received / 1e6:.2f} MB")
                    moved = move(found, board.url, RUN)
                say(
                    "zooming, scrolling",
                    f"a frame every {moved.middle:.0f} ms, of 20 one {moved.slow:.0f} ms (idle {moved.idle:.0f} ms), "
                    f"{moved.received / 1e6:.2f} MB in {moved.seconds:.1f} s, heap {moved.heap / 1e6:.0f} MB",
                )
        several(folder, run, loader)
        if browser:
            tabs(folder, run, loader, series=series)
    run.close()
    early = Shape(shape.variables, min(EARLY_STEPS, shape.steps), shape.every)
    young = GrowingRun(folder / "early" / "run", early)
    for loader in loaders:
        with tensorboard(folder / "early", loader) as board:
            board.wait_for_step(RUN, young.last_step)
            for route in ("run", "tile"):
                board.get(route, run=RUN, group="adam", columns=COLUMNS)
            refresh(board, young, f"{loader}: refresh at step {young.last_step:,}")
    young.close()


def answers(board: Board, run: GrowingRun, numpy_seconds: float) -> None:
    """Prints the times of each route."""
    adam = {"run": RUN, "group": "adam"}
    body, first = board.get("run", run=RUN)
    say(
        "run, first time",
        f"{first:.2f} s (reads {run.nbytes / 1e6:.0f} MB, applies the rules), {len(body) / 1e6:.2f} MB",
    )
    last, middle = run.last_step, run.last_step // 2
    chosen = ",".join(map(str, range(min(8, run.shape.variables))))
    requests: dict[str, tuple[str, dict[str, Any]]] = {
        "run": ("run", {"run": RUN}),
        "tile, whole run": ("tile", {**adam, "columns": COLUMNS}),
        "tile, a tenth": ("tile", {**adam, "columns": COLUMNS, "first": middle, "last": middle + last // 10}),
        "tile, 100 variables": (
            "tile",
            {**adam, "columns": COLUMNS, "variables": f"0-{min(100, run.shape.variables) - 1}"},
        ),
        "tile, smallest": ("tile", {**adam, "columns": COLUMNS, "keep": "smallest"}),
        "tile, change": ("tile", {**adam, "columns": COLUMNS, "metric": "change"}),
        "lines of 8": ("lines", {**adam, "columns": COLUMNS, "variables": chosen}),
        "rank": ("rank", {**adam, "first": middle, "last": middle + last // 100}),
        "variable": ("variable", {**adam, "variable": 0}),
    }
    for name, (route, query) in requests.items():
        body, cold = board.get(route, **query)
        warm = best(lambda route=route, query=query: board.get(route, **query))
        times = f", {warm / numpy_seconds:.1f} × NumPy" if name == "tile, whole run" else ""
        say(name, f"{cold * 1e3:.0f} ms, then {warm * 1e3:.0f} ms{times}, {len(body) / 1e6:.2f} MB")


def memory(board: Board, before: dict[str, int], run: GrowingRun) -> None:
    """Prints what the plugin holds, beside the records."""
    now = board.memory()
    grown = now["now"] - before["now"]
    say(
        "memory",
        f"TensorBoard {before['now'] / 1e6:.0f} → {now['now'] / 1e6:.0f} MB (peak {now['peak'] / 1e6:.0f}), "
        f"data server {now['data_server'] / 1e6:.0f} MB; grown by {grown / run.nbytes:.2f} × the log",
    )


def several(folder: Path, run: GrowingRun, loader: str) -> None:
    """Prints what the plugin holds of three runs where it may hold one and a half."""
    logs = folder / "several"
    for name in RUNS:
        shutil.copytree(run.directory, logs / name)
    limit = run.nbytes * 3 // 2 >> 20
    with tensorboard(logs, loader, TB_GRADHEALTH_CACHE_MB=str(limit)) as board:
        for name in RUNS:
            board.wait_for_step(name, run.last_step)
        before, times = board.memory(), []
        for name in RUNS * 2:
            times.append(board.get("tile", run=name, group="adam", columns=COLUMNS)[1])
        grown = board.memory()["now"] - before["now"]
        say(
            "three runs, limit",
            f"{limit} MB of {3 * run.nbytes / 1e6:.0f}: grown by {grown / 1e6:.0f} MB; a tile that has to be read anew "
            f"{max(times):.2f} s",
        )
    shutil.rmtree(logs)


def refresh(board: Board, run: GrowingRun, name: str) -> None:
    """Prints what the page's requests cost after a growing run was loaded further."""
    for route in ("run", "tile"):
        board.get(route, run=RUN, group="adam", columns=COLUMNS)
    costs = []
    for _ in range(3):
        run.train_records(NEW_RECORDS)
        board.wait_for_step(RUN, run.last_step)
        costs.append([board.get(route, run=RUN, group="adam", columns=COLUMNS)[1] for route in ("run", "tile")])
    (told, drawn) = np.min(costs, axis=0) * 1e3
    say(name, f"run {told:.0f} ms, tile {drawn:.0f} ms after {NEW_RECORDS} new records")


def tabs(folder: Path, run: GrowingRun, loader: str, *, series: bool) -> None:
    """Prints how long the first screen takes with nothing in memory, beside TensorBoard's own tab."""
    variables = run.shape.variables
    with tensorboard(folder / "ours", loader) as board, chromium() as browser:
        board.wait_for_step(RUN, run.last_step)
        ours = open_grad_health(browser, board.url, RUN, variables)
    say(
        "Grad Health tab",
        f"{ours.seconds:.2f} s to the first screen, {variables:,} variables, {ours.received / 1e6:.2f} MB",
    )
    if not series:
        return
    scalars = folder / "scalars"
    if not scalars.exists():
        say("scalars", f"{write_scalars(scalars / 'run', run):,} values written")
    with tensorboard(scalars, loader) as board, chromium() as browser:
        board.wait_for_scalars(variables)
        first, whole = open_time_series(browser, board.url, variables)
    say("Time Series tab", f"{first.seconds:.2f} s to {first.shown} charts, {first.received / 1e6:.2f} MB")
    say(
        "Time Series tab",
        f"{whole.seconds:.1f} s to {whole.shown:,} charts, page by page, {whole.received / 1e6:.1f} MB",
    )
    say(
        "first screen",
        f"{whole.seconds / ours.seconds:.0f} × sooner than all charts, {first.seconds / ours.seconds:.1f} × first page",
    )


def numpy_passes(run: GrowingRun) -> dict[str, float]:
    """Seconds of one pass over the metric and the states of the run's records, decoded and in memory."""
    (group,) = read_run(str(run.directory)).groups.values()
    values, states = np.ascontiguousarray(group.windows.norm_max), group.windows.worst_state()
    begin = group.windows.first_step
    place = (begin * COLUMNS) // (int(group.windows.last_step[-1]) + 1)
    starts = np.flatnonzero(np.diff(place, prepend=-1)) if len(begin) > COLUMNS else np.arange(len(begin))

    def reduceat() -> Any:
        return np.fmax.reduceat(values, starts, axis=0), np.maximum.reduceat(states, starts, axis=0)

    def loop() -> Any:
        ends = [*starts[1:], len(values)]
        parts = [
            (np.fmax.reduce(values[a:b]), np.maximum.reduce(states[a:b])) for a, b in zip(starts, ends, strict=True)
        ]
        return np.stack([p for p, _ in parts]), np.stack([s for _, s in parts])

    return {"reduceat": best(reduceat), "loop over columns": best(loop)}


def best(function: Callable[[], Any]) -> float:
    """The shortest of some calls, in seconds."""
    times = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return min(times)


def say(name: str, text: str) -> None:
    print(f"    {name + ':':<28}{text}", flush=True)


def _shape(text: str) -> Shape:
    match = re.fullmatch(r"(\d+)x(\d+)(?:/(\d+))?", text)
    if not match:
        raise argparse.ArgumentTypeError(f"write 1000x1000000 or 2000x20000/1, not {text!r}")
    return Shape(int(match[1]), int(match[2]), int(match[3]) if match[3] else "auto")


if __name__ == "__main__":
    main()
