"""Packaging of tb_gradhealth: everything but the build of the dashboard is in `pyproject.toml`."""

import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist
from setuptools.errors import SetupError

sys.path.insert(0, str(Path(__file__).resolve().parent / "scripts"))
import build_frontend


def build_bundle() -> None:
    """Makes the dashboard's bundle, if it is not there or out of date; ends with a message where that fails."""
    try:
        build_frontend.build()
    except build_frontend.BuildError as error:
        raise SetupError(str(error)) from None


class BuildPy(build_py):
    """Builds the dashboard before the package's files are gathered."""

    def run(self) -> None:
        build_bundle()
        self.__dict__.pop("data_files", None)  # gathered again, now that the bundle is there
        super().run()


class SDist(sdist):
    """Puts the built dashboard into the source distribution, so that installing from it needs no Node."""

    def run(self) -> None:
        build_bundle()
        super().run()


setup(cmdclass={"build_py": BuildPy, "sdist": SDist})
