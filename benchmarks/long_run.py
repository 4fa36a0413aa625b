"""Drives the writer through simulated steps, and proves by reading back that nothing planted was lost.

    python benchmarks/long_run.py                    # one million steps
    python benchmarks/long_run.py --steps 100000000

Two hundred variables, `every="auto"`. Steps reach the writer as they do in training: in portions of 64 single steps for
the first `--single` steps; after that as a device hands over what its ring had no room for, one window for each
`--summed` steps with 64 single steps behind it (a call that runs thousands of steps on the device). One NaN step, one
spike and one None flip are planted at random steps, which come as single steps (of a None among summed steps only the
window is known). Prints the size of the file, the writer's time, the records, and where the planted events were found.
"""

import argparse
import json
import os
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np

from tb_gradhealth.format.log_writer import LogWriter
from tb_gradhealth.format.reader import read_run
from tb_gradhealth.format.states import State
from tb_gradhealth.format.tags import FORMAT_VERSION
from tb_gradhealth.format.windows import Windows
from tb_gradhealth.record.group import Group
from tb_gradhealth.record.schema import GroupFacts
from tb_gradhealth.record.sink import EventFile

VARIABLES = 200
PORTION = 64


class Variable:
    """What a schema asks of a variable."""

    def __init__(self, index):
        self.path, self.shape, self.dtype = f"block_{index // 10}/layer_{index % 10}/kernel", (64, 64), "float32"


class Steps:
    """Simulated steps, the same however they are portioned."""

    def __init__(self, total, seed):
        generator = np.random.default_rng(seed)
        self.level = generator.lognormal(-2, 1, VARIABLES).astype(np.float32)
        self.noise = generator.lognormal(0, 0.1, (4096, VARIABLES)).astype(np.float32)
        low = min(1000, total // 2)
        steps = generator.choice(np.arange(low, total), 3, replace=False)
        rows = generator.choice(VARIABLES, 3, replace=False)
        self.nan, self.spike, self.none = ((int(s), int(r)) for s, r in zip(steps, rows, strict=True))

    def single(self, first, count):
        """Windows of one step each."""
        steps = np.arange(first, first + count)
        windows = Windows.blank(count, VARIABLES)
        windows.first_step[:] = windows.last_step[:] = steps
        windows.steps[:] = 1
        windows.norm_max_step[:] = steps[:, None]
        norms = self.level * self.noise[steps % 4096]
        state = np.full(norms.shape, State.FINITE, np.uint8)
        self._plant(steps, norms, state, windows)
        windows.state_last[:] = state
        for name in ("norm_last", "norm_min", "norm_max", "norm_mean"):
            getattr(windows, name)[:] = norms
        windows.loss[:] = windows.loss_max[:] = 1 / np.sqrt(1 + steps)
        windows.global_norm[:] = windows.global_norm_max[:] = np.sqrt(np.nansum(np.square(norms), axis=1))
        windows.learning_rate[:] = 1e-3
        return windows

    def summed(self, first, count):
        """One window over many steps without anything planted; its columns are those of a sample."""
        window = self.single(first, min(count, 16)).merged(np.array([0]))
        window.last_step[:] = first + count - 1
        window.steps[:] = count
        return window

    def planted_within(self, first, count):
        return any(first <= step < first + count for step, _ in (self.nan, self.spike, self.none))

    def _plant(self, steps, norms, state, windows):
        for (step, row), what in ((self.nan, State.NAN), (self.spike, State.FINITE), (self.none, State.NONE)):
            at = step - int(steps[0])
            if not 0 <= at < len(steps):
                continue
            state[at, row] = what
            norms[at, row] = norms[at, row] * 1e4 if what == State.FINITE else np.nan
            if what == State.NAN:
                windows.nan_steps[at, row] = windows.nan_elements[at, row] = 1
                windows.first_bad_step[at, row] = step
            if what == State.NONE:
                windows.none_steps[at, row] = 1


def run(directory, total, single, summed, seed):
    """Writes the run; returns what was planted and how long the writer took, in seconds."""
    steps = Steps(total, seed)
    log = LogWriter(EventFile(directory))
    group = Group("adam", GroupFacts("keras.fit", optimizer="Adam"))
    group.hand_over([Variable(index) for index in range(VARIABLES)])
    group.renew(log, 0)
    seconds, first = 0.0, 0
    while first < total:
        portion = [steps.single(first, min(PORTION, total - first))]
        if first >= single and total - first > summed + PORTION and not steps.planted_within(first, summed):
            portion = [steps.summed(first, summed), steps.single(first + summed, PORTION)]
        windows = Windows.concatenate(portion)
        begin = time.perf_counter()
        incidents = group.feed(windows, log)
        if incidents:
            write_incidents(log, group, int(windows.last_step[-1]))
        seconds += time.perf_counter() - begin
        first = int(windows.last_step[-1]) + 1
    group.write_pending(log)
    write_incidents(log, group, total - 1)
    log.close()
    return steps, seconds


def write_incidents(log, group, step):
    from tb_gradhealth.format import gradhealth_pb2 as pb

    log.incidents(pb.Incidents(format_version=FORMAT_VERSION, incidents=group.incidents()), step)


def found_again(log, steps):
    """The steps at which the log has the planted events."""
    windows = log.groups["adam"].windows
    spikes = windows.norm_max[:, steps.spike[1]]
    at = int(np.nanargmax(spikes))
    nones = [i.first_step for i in log.incidents if i.kind == "none" and steps.none[1] in i.rows]
    return {
        "nan": int(windows.first_bad_step[:, steps.nan[1]].max()),
        "spike": int(windows.norm_max_step[at, steps.spike[1]]),
        "none": nones[0] if nones else none_step(log, steps),
    }


def none_step(log, steps):
    """From the flight recorder, else from a window of one step."""
    for windows in (log.groups["adam"].flights, log.groups["adam"].windows):
        rows = np.flatnonzero((windows.none_steps[:, steps.none[1]] > 0) & (windows.steps == 1))
        if len(rows):
            return int(windows.first_step[rows[0]])
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=10**6)
    parser.add_argument("--single", type=int, default=10**5)
    parser.add_argument("--summed", type=int, default=4096)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        begin = time.perf_counter()
        steps, seconds = run(directory, options.steps, options.single, options.summed, options.seed)
        size = sum(os.path.getsize(os.path.join(directory, name)) for name in os.listdir(directory))
        log = read_run(directory)
    windows = log.groups["adam"].windows
    planted = {"nan": steps.nan[0], "spike": steps.spike[0], "none": steps.none[0]}
    found = found_again(log, steps)
    result = {
        "steps": options.steps,
        "records": len(windows),
        "megabytes": round(size / 1e6, 1),
        "bytes_per_variable_and_record": round(size / len(windows) / VARIABLES, 1),
        "writer_seconds": round(seconds, 1),
        "all_seconds": round(time.perf_counter() - begin, 1),
        "steps_in_log": int(windows.steps.sum()),
        "planted": planted,
        "found": found,
        "exact": planted == found,
    }
    print(json.dumps(result, indent=1))
    raise SystemExit(0 if result["exact"] and result["steps_in_log"] == options.steps else 1)


if __name__ == "__main__":
    main()
