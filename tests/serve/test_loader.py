"""What TensorBoard runs at start-up must not fail, whatever the flags."""

import argparse
import importlib.metadata
import subprocess
import sys

import pytest
from serve_world import FakeProvider
from tensorboard.plugins import base_plugin

from tb_gradhealth.format.tags import PLUGIN_NAME
from tb_gradhealth.serve import loader as module
from tb_gradhealth.serve.loader import GradHealthLoader


def fixed(value: object) -> object:
    flags = argparse.Namespace(samples_per_plugin=value)
    GradHealthLoader().fix_flags(flags)
    return flags.samples_per_plugin


def test_by_default_every_record_is_kept() -> None:
    assert fixed({}) == {"gradhealth": 0}
    assert fixed({"scalars": 5}) == {"scalars": 5, "gradhealth": 0}
    assert module.PLUGIN == PLUGIN_NAME


@pytest.mark.parametrize("count", [0, 1, 100])
def test_a_value_that_the_user_gave_wins(count) -> None:
    assert fixed({"gradhealth": count, "images": 3}) == {"gradhealth": count, "images": 3}
    assert fixed(f"gradhealth={count}") == {"gradhealth": count}


def test_a_string_is_understood_as_tensorboard_understands_it() -> None:
    assert fixed("") == {"gradhealth": 0}
    assert fixed("scalars=500, images=0,") == {"scalars": 500, "images": 0, "gradhealth": 0}


@pytest.mark.parametrize("value", ["scalars", "scalars=many", 7, object()])
def test_what_is_not_understood_stays_as_it_was_and_is_a_warning_in_the_log(value, caplog) -> None:
    assert fixed(value) is value
    assert "--samples_per_plugin=gradhealth=0" in caplog.text


def test_a_tensorboard_without_the_flag_is_left_alone(caplog) -> None:
    flags = argparse.Namespace()
    GradHealthLoader().fix_flags(flags)
    assert vars(flags) == {}
    assert not caplog.records
    assert fixed(None) is None


def test_it_defines_no_flags() -> None:
    parser = argparse.ArgumentParser()
    before = parser.format_help()
    GradHealthLoader().define_flags(parser)
    assert parser.format_help() == before


def test_it_loads_the_plugin() -> None:
    context = base_plugin.TBContext(data_provider=FakeProvider(), sampling_hints={"gradhealth": 0})
    assert GradHealthLoader().load(context).plugin_name == "gradhealth"


def test_tensorboard_finds_it_by_its_entry_point() -> None:
    (entry,) = importlib.metadata.entry_points(group="tensorboard_plugins", name="gradhealth")
    assert entry.load() is GradHealthLoader


IMPORT_LOADER = "import sys, {}tb_gradhealth.serve.loader; sys.exit(bool({{'numpy', 'tensorflow'}} & set(sys.modules)))"


@pytest.mark.parametrize(("more", "code"), [("", 0), ("numpy, ", 1)])
def test_importing_the_entry_point_imports_next_to_nothing(more, code) -> None:
    assert subprocess.run([sys.executable, "-c", IMPORT_LOADER.format(more)], check=False).returncode == code
