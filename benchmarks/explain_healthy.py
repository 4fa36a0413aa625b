"""Healthy trainings of the kinds people have, each recorded through the product: not one cause may be reported.

    python benchmarks/explain_healthy.py            # all; exit code 1 if any has a cause
    python benchmarks/explain_healthy.py gan vae    # those whose name contains one of these

Every training runs some steps on small synthetic data in this process; what is not a `fit` takes its gradients in a
custom loop (`healthy_trainings/`).
"""

import contextlib
import io
import os
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
from healthy_trainings import TRAININGS

from tb_gradhealth.format.reader import find_runs, read_run
from tb_gradhealth.health import assess


def main(arguments: list[str]) -> int:
    loud = 0
    chosen = [n for n in TRAININGS if not arguments or any(part in n for part in arguments)]
    for name in chosen:
        keras.utils.set_random_seed(3)
        with tempfile.TemporaryDirectory() as directory:
            said = io.StringIO()
            with contextlib.redirect_stderr(said):
                TRAININGS[name](directory)
            health = [assess(read_run(os.path.join(directory, run))) for run in find_runs(directory)]
        causes = [str(cause) for one in health for cause in one.causes]
        loud += bool(causes)
        print(f"{'CAUSE' if causes else 'quiet'} {name}: {', '.join(str(one.verdict) for one in health)}", *causes)
    print(f"{len(chosen) - loud} of {len(chosen)} healthy trainings without a cause")
    return 1 if loud else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
