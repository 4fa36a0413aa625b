"""The command `tb-gradhealth report`.

Exit codes: 0 nothing that ``--fail-on`` names, 1 something of it was found, 2 the log could not be read (or the call
was wrong). Standard output holds the report and nothing else; what went wrong is told on standard error.
"""

import argparse
import dataclasses
import json
import os
import shutil
import sys
from collections.abc import Sequence
from typing import TextIO

from tb_gradhealth.health import STATE_ORDER, Thresholds
from tb_gradhealth.health.errors import ERROR
from tb_gradhealth.report.follow import follow
from tb_gradhealth.report.model import DEFAULT_FAIL_ON, Report

_KINDS = (*(state for state in STATE_ORDER if state not in ("ok", "frozen", "not_recorded")), ERROR)
FAIL_WORDS = (*_KINDS, "watch", "unhealthy", "never")
UNREADABLE = 2
_CLOSED_PIPE = 141
"""What a shell reports for a program that was stopped by SIGPIPE."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `report` takes."""
    parser.add_argument("logdir", metavar="LOGDIR", help="what `tensorboard --logdir` is given, or one run's directory")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON object for programs")
    form.add_argument("--markdown", action="store_true", help="Markdown")
    parser.add_argument(
        "--fail-on",
        metavar="KINDS",
        type=_fail_on,
        default=DEFAULT_FAIL_ON,
        help="exit with 1 if any of these was found, separated by commas: "
        f"{', '.join(FAIL_WORDS)} (default: {','.join(DEFAULT_FAIL_ON)})",
    )
    parser.add_argument("--since", metavar="STEP", type=int, help="leave out what had ended before this step")
    parser.add_argument("--run", metavar="NAME", action="append", help="only this run; a name or pattern, repeatable")
    parser.add_argument(
        "--threshold",
        metavar="NAME=VALUE",
        type=_threshold,
        action="append",
        default=[],
        help="judge by another limit than the run was recorded with; repeatable. "
        f"Names: {', '.join(field.name for field in dataclasses.fields(Thresholds))}",
    )
    parser.add_argument("--watch", action="store_true", help="follow growing runs until Ctrl-C")
    parser.add_argument(
        "--interval", metavar="SECONDS", type=_seconds, default=2.0, help="how often --watch looks (default: 2)"
    )


def run(arguments: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    """Carries the command out; returns the exit code."""
    try:
        if arguments.watch:
            return follow(lambda: _once(arguments, out), arguments.logdir, arguments.interval, out, err)
        text, code = _once(arguments, out)
    except (OSError, LookupError) as error:
        print(f"tb-gradhealth: {_message(error)}", file=err)
        return UNREADABLE
    return code if _written(text, out) else _CLOSED_PIPE


def _written(text: str, out: TextIO) -> bool:
    """Whether the reader took it all; names in characters that the terminal lacks are spelled out."""
    encoding = getattr(out, "encoding", None) or "utf-8"
    try:
        out.write(text.encode(encoding, "backslashreplace").decode(encoding))
        out.flush()
    except BrokenPipeError:  # `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter complains at exit
        return False
    return True


def _once(arguments: argparse.Namespace, out: TextIO) -> tuple[str, int]:
    report = Report(arguments.logdir, runs=arguments.run, since=arguments.since, thresholds=dict(arguments.threshold))
    code = report.exit_code(arguments.fail_on)
    if arguments.json:
        return json.dumps(report.to_json(), allow_nan=False, indent=None if arguments.watch else 1) + "\n", code
    if arguments.markdown:
        return report.markdown(), code
    width = min(shutil.get_terminal_size((100, 24)).columns, 120)
    return report.text(colour=_has_colour(out), ascii_only=not _has_glyphs(out), width=width), code


def _fail_on(text: str) -> tuple[str, ...]:
    words = tuple(word.strip() for word in text.split(",") if word.strip())
    unknown = [word for word in words if word not in FAIL_WORDS]
    if unknown or not words:
        raise argparse.ArgumentTypeError(
            f"unknown kind {', '.join(map(repr, unknown)) or repr(text)}; known are {', '.join(FAIL_WORDS)}"
        )
    return words


def _threshold(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        number = float(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be like spike_factor=20. Received: {text!r}") from None
    try:
        Thresholds().but({name: number})
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return name, number


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value > 0:
        raise argparse.ArgumentTypeError(f"must be a number of seconds greater than 0. Received: {text!r}")
    return value


def _has_colour(out: TextIO) -> bool:
    return out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _has_glyphs(out: TextIO) -> bool:
    try:
        "✕▁█∅→–".encode(getattr(out, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _message(error: Exception) -> str:
    return str(error.args[0]) if isinstance(error, LookupError) and error.args else str(error)


def main(argv: Sequence[str] | None = None) -> int:
    """`tb-gradhealth` as a program."""
    from tb_gradhealth import __version__

    parser = argparse.ArgumentParser("tb-gradhealth", description="Gradient health of TensorFlow and Keras trainings.")
    parser.add_argument("--version", action="version", version=f"tb-gradhealth {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add_arguments(
        commands.add_parser(
            "report",
            help="say which runs are healthy, which variables are not, and why",
            description="Says which runs are healthy, which variables are not, since when and why. "
            "Exit code 0: nothing of --fail-on; 1: something; 2: could not read.",
        )
    )
    return run(parser.parse_args(argv), sys.stdout, sys.stderr)
