"""How far the verdicts can be trusted: small trainings, healthy and ill, scored beside published rules.

    python benchmarks/verdicts.py                  # train what is missing, score the half the rules were tuned on
    python benchmarks/verdicts.py --half test      # the other half
    python benchmarks/verdicts.py --half fresh --seeds 3    # those written when the rules had been tuned on both

Every training is recorded once below ``--logs`` and kept. Printed for each rule set: recall (ill trainings about which
something right was said), precision (of all trainings about which anything was said), false alarms (healthy trainings
called ill) and the median number of steps from the onset to the first right word.
"""

import argparse
import dataclasses
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from verdict_trainings.baselines import ALIKE, BASELINES  # noqa: E402
from verdict_trainings.registry import Training  # noqa: E402

from tb_gradhealth.format.log import RunLog  # noqa: E402
from tb_gradhealth.format.reader import read_run  # noqa: E402
from tb_gradhealth.health import Tracker, assess  # noqa: E402

DEFAULT_LOGS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tb_gradhealth" / "verdicts"

PER_PROCESS = 12
"""Trainings in a process: TensorFlow keeps what it has traced."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """What was said about a training: words, each with the step at which it was first said.

    `taken_back`: words that were told while training went on and that the report no longer holds.
    """

    said: tuple[tuple[int, str], ...]
    unhealthy: bool = False
    taken_back: tuple[str, ...] = ()

    def right(self, training: Training) -> list[int]:
        return [step for step, word in self.said if word in training.kinds]


def ours(run: RunLog) -> Answer:
    """What the report says at the end, each word with the step at which training was told of it."""
    told: dict[str, int] = {}
    for group in run.groups.values():
        tracker = Tracker(group.schema)
        for index in range(len(group.windows)):
            for incident in tracker.feed(group.windows.select(slice(index, index + 1))):
                told.setdefault(incident.kind, int(group.windows.last_step[index]))
    health = assess(run)
    said = {i.kind: told.get(i.kind, i.last_step) for i in health.incidents if i.severity != "info"}
    return Answer(
        tuple((step, word) for word, step in said.items()),
        health.verdict == "unhealthy",
        tuple(sorted(set(told) - set(said))),
    )


def theirs(run: RunLog, name: str, training: Training) -> Answer:
    said = []
    for group in run.groups.values():
        for alarm in BASELINES[name](group):
            words = ALIKE[alarm.kind] & training.kinds
            said.append((alarm.step, min(words) if words else alarm.kind))
    return Answer(tuple(said))


@dataclasses.dataclass(frozen=True)
class Score:
    recall: float
    precision: float
    false_alarms: int
    healthy: int
    called_unhealthy: int
    delay: float

    @classmethod
    def of(cls, answers: Iterable[tuple[Training, Answer]]) -> "Score":
        pairs = list(answers)
        ill = [(t, a) for t, a in pairs if t.ill]
        healthy = [(t, a) for t, a in pairs if not t.ill]
        found = [(t, a) for t, a in ill if a.right(t)]
        said = sum(bool(a.said) for _, a in pairs)
        delays = [max(min(a.right(t)) - t.onset, 0) for t, a in found]
        return cls(
            len(found) / max(len(ill), 1),
            len(found) / max(said, 1),
            sum(bool(a.said) for _, a in healthy),
            len(healthy),
            sum(a.unhealthy for _, a in healthy),
            float(np.median(delays)) if delays else float("nan"),
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("tune", "test", "fresh", "all"), default="tune")
    parser.add_argument("--logs", type=Path, default=DEFAULT_LOGS, help="where the records are kept")
    parser.add_argument("--seeds", type=int, default=1, help="train each so often, each time from another seed")
    parser.add_argument("--only", default="", help="trainings whose name contains this")
    parser.add_argument("--no-train", action="store_true", help="score what is there")
    parser.add_argument("--quiet", action="store_true", help="the table only")
    arguments = parser.parse_args()
    trainings = _seeded(_trainings(arguments.half, arguments.only), arguments.seeds)
    arguments.logs.mkdir(parents=True, exist_ok=True)
    if not arguments.no_train:
        _train(arguments.logs, [t.name for t in trainings])
    there = [t for t in trainings if (arguments.logs / f"{t.name}.done").exists()]
    recorded = {t.name: run for t in there if (run := _read(arguments.logs / t.name)).groups}
    trainings = [t for t in trainings if t.name in recorded]
    answers = {t.name: ours(recorded[t.name]) for t in trainings}
    if not arguments.quiet:
        _details(trainings, answers, recorded)
    _table(trainings, answers, recorded, arguments.half)
    return 0


def _trainings(half: str, only: str) -> list[Training]:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    from verdict_trainings import TRAININGS

    return [t for name, t in sorted(TRAININGS.items()) if half in (t.half, "all") and only in name]


def _seeded(trainings: list[Training], seeds: int) -> list[Training]:
    """The trainings from seeds 1 to `seeds`; those from the first have plain names."""
    others = [dataclasses.replace(t, name=f"{t.name}@{seed}") for seed in range(2, seeds + 1) for t in trainings]
    return [*trainings, *others]


def _train(logs: Path, names: list[str]) -> None:
    missing = [name for name in names if not (logs / f"{name}.done").exists()]
    if missing:
        print(f"Training {len(missing)} of {len(names)}; they are kept in {logs}.", flush=True)
    for low in range(0, len(missing), PER_PROCESS):
        command = [sys.executable, "-m", "verdict_trainings.train", str(logs), *missing[low : low + PER_PROCESS]]
        subprocess.run(command, cwd=HERE, check=True)


def _read(directory: Path) -> RunLog:
    return read_run(str(directory / "gradhealth"))


def _details(trainings: list[Training], answers: dict[str, Answer], recorded: dict[str, RunLog]) -> None:
    for training in trainings:
        answer = answers[training.name]
        said = ", ".join(f"{word}@{step}" for step, word in answer.said) or "nothing"
        good = bool(answer.right(training)) if training.ill else not answer.said
        loss = _loss(recorded[training.name])
        unhealthy = " UNHEALTHY" if answer.unhealthy else ""
        unhealthy += f" (taken back: {', '.join(answer.taken_back)})" if answer.taken_back else ""
        print(f"{'ok  ' if good else 'MISS'} {training.name:<46} {loss:<24} {said}{unhealthy}")
        if training.learns and not _learned(recorded[training.name]):
            print(f"     {training.name} was to be healthy and has not learned: mend the training")


def _loss(run: RunLog) -> str:
    first, last = _ends(run)
    return f"loss {first:.3g} -> {last:.3g}"


def _ends(run: RunLog) -> tuple[float, float]:
    losses = next(iter(run.groups.values())).windows.loss
    known = losses[~np.isnan(losses)]
    if not known.size:
        return float("nan"), float("nan")
    return float(np.median(known[:4])), float(np.median(losses[-20:]))


def _learned(run: RunLog) -> bool:
    first, last = _ends(run)
    return last < 0.75 * first


def _table(trainings: list[Training], answers: dict[str, Answer], recorded: dict[str, RunLog], half: str) -> None:
    ill = sum(t.ill for t in trainings)
    print(f"\n{half} half: {len(trainings) - ill} healthy and {ill} ill trainings")
    print(f"{'rules':<22}{'recall':>8}{'precision':>11}{'false alarms':>14}{'delay, steps':>14}")
    rows = {"tb_gradhealth": Score.of((t, answers[t.name]) for t in trainings)}
    for name in BASELINES:
        rows[name] = Score.of((t, theirs(recorded[t.name], name, t)) for t in trainings)
    for name, score in rows.items():
        alarms = f"{score.false_alarms} of {score.healthy}"
        print(f"{name:<22}{score.recall:>8.2f}{score.precision:>11.2f}{alarms:>14}{score.delay:>14.0f}")
    print(f"healthy trainings called unhealthy: {rows['tb_gradhealth'].called_unhealthy}")


if __name__ == "__main__":
    sys.exit(main())
