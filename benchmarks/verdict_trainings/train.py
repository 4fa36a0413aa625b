"""Training what is not in the cache yet, one at a time.

python -m verdict_trainings.train LOGS [NAME…]

A name is that of a training, or ``name@seed``; without a seed it is 1.
"""

import os
import random
import shutil
import sys
import time
import traceback
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")


def train(logs: Path, names: list[str]) -> None:
    """Each of the trainings named that has no finished log below `logs`; a failed one is told and left out."""
    import keras

    from verdict_trainings import TRAININGS
    from verdict_trainings.log import Log

    for number, name in enumerate(names, 1):
        directory, done = logs / name, logs / f"{name}.done"
        if done.exists():
            continue
        shutil.rmtree(directory, ignore_errors=True)
        training, _, seed = name.partition("@")
        keras.backend.clear_session()
        random.seed(int(seed or 1) - 1)
        keras.utils.set_random_seed(int(seed or 1))
        start = time.perf_counter()
        try:
            TRAININGS[training].run(Log(str(directory)))
        except Exception:
            (logs / f"{name}.error").write_text(traceback.format_exc())
            print(f"{number}/{len(names)} {name}: FAILED, see {logs / name}.error", flush=True)
            continue
        done.touch()
        print(f"{number}/{len(names)} {name}: {time.perf_counter() - start:.1f} s", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from verdict_trainings import TRAININGS as _ALL

    train(Path(sys.argv[1]), sys.argv[2:] or sorted(_ALL))
