"""Importing the package imports no TensorFlow and no Keras; each public name is there."""

import subprocess
import sys

import tb_gradhealth

PROGRAM = """
import sys
import tb_gradhealth
{more}
print(sorted({{"tensorflow", "keras", "tf_keras"}} & set(sys.modules)))
"""


def heavy_modules(more=""):
    command = [sys.executable, "-c", PROGRAM.format(more=more)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_importing_the_package_imports_nothing_heavy():
    assert heavy_modules("tb_gradhealth.Thresholds, tb_gradhealth.Cause, dir(tb_gradhealth)") == "[]"


def test_the_test_above_can_fail():
    assert heavy_modules("tb_gradhealth.GradHealthWriter") != "[]"


def test_the_callback_imports_no_more_than_tensorflow_does():
    assert heavy_modules("tb_gradhealth.GradHealthCallback") == heavy_modules("import tensorflow")


def test_every_public_name_is_there():
    for name in tb_gradhealth.__all__:
        assert getattr(tb_gradhealth, name) is not None
    assert set(tb_gradhealth.__all__) <= set(dir(tb_gradhealth))
