from concurrent.futures import ThreadPoolExecutor

import pytest
from examples_world import FAULTY, MENDED, TensorBoard, report, run


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """Every situation and its mended twin, trained once: the log directory and each program's process."""
    logdir = tmp_path_factory.mktemp("examples") / "logs"
    logdir.mkdir()
    situations = FAULTY + MENDED
    with ThreadPoolExecutor(2) as pool:
        done = pool.map(lambda s: run(s.command, logdir / s.name), situations)
        return logdir, {s.name: process for s, process in zip(situations, done, strict=True)}


@pytest.fixture(scope="session")
def reports(trained):
    return report(trained[0])


@pytest.fixture(scope="session", params=["true", "false"], ids=["rust-loader", "python-loader"])
def served(request, trained):
    """TensorBoard on the same logs, with each loader in turn."""
    board = TensorBoard(trained[0], request.param)
    try:
        board.wait_for_runs(len(FAULTY + MENDED))
        yield board
    finally:
        board.close()
