"""Trains a healthy model and the five ill ones of `examples/`, then shows their logs in TensorBoard.

python -m demo              # train what is not trained yet, then serve until Ctrl-C
python -m demo --no-serve   # only train
python -m demo --again      # train everything anew
python -m demo --port 7007  # serve on this port; without it, on 6006 or the next free one
"""

import argparse
import sys
import time

from demo import serve, training
from demo.runs import LOGS, RUNS


def main() -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="make demo", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--no-serve", action="store_true", help="end after the training")
    parser.add_argument("--again", action="store_true", help="train everything anew")
    parser.add_argument("--port", type=int, help="TensorBoard's port; the default is 6006 or the next free one")
    args = parser.parse_args()

    port = None
    try:
        if not args.no_serve:
            port = serve.free_port(args.port)  # before minutes of training are spent
        started = time.monotonic()
        trained = training.train(RUNS, again=args.again)
        seconds = time.monotonic() - started
        print(
            f"{trained} of {len(RUNS)} runs trained in {seconds:.0f} s, the others were there."
            if trained
            else f"All {len(RUNS)} runs are there already; --again trains them anew.",
            flush=True,
        )
        if port is None:
            print(f"Logs: {LOGS}    see them with: make demo, or tensorboard --logdir {LOGS}")
            return 0
        return serve.tensorboard(LOGS, port)
    except (training.TrainingError, serve.ServeError) as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped.")
        return 130


if __name__ == "__main__":
    sys.exit(main())
