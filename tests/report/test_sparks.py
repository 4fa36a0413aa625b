"""Histories in characters: nothing bad is lost however long the run is."""

import numpy as np
from report_world import NAN, schema_of, windows_of

from tb_gradhealth.format.log import GroupLog
from tb_gradhealth.report.sparks import COLUMNS, Spark, sparks_of


def group_of(norms, names=("a", "b"), **fields):
    schema = schema_of(names)
    for name, value in fields.items():
        setattr(schema, name, value)
    return GroupLog(schema, [schema], windows_of(norms), windows_of(norms).select(slice(0)))


def test_a_single_nan_among_thousands_of_steps_is_seen():
    norms = [[1.0, 1.0]] * 5000
    norms[3210] = [1.0, NAN]
    spark = sparks_of(group_of(norms), [1])[1]
    assert len(spark.states) == COLUMNS
    assert spark.text().count("✕") == 1
    assert spark.text().index("✕") == 3210 * COLUMNS // 5000


def test_height_is_logarithmic():
    spark = Spark((1,) * 8, tuple(10.0**k for k in range(8)))
    assert spark.text() == "▁▂▃▄▅▆▇█"
    assert spark.text(ascii_only=True) == "_.-=+*%#"


def test_a_flat_history_is_drawn_in_the_middle():
    assert set(Spark((1,) * 4, (1.0, 1.1, 0.9, 1.0)).text()) <= set("▃▄▅▆")


def test_every_state_has_its_character():
    assert Spark((0, 1, 2, 3, 4, 5), (np.nan, 1.0, 0.0, np.nan, np.nan, np.nan)).text() == "·▅0∅▲✕"


def test_the_worst_replica_is_drawn():
    group = group_of([[1.0, 1.0, NAN, 5.0]], replicas=2)
    sparks = sparks_of(group, [0, 1])
    assert sparks[0].text() == "✕" and sparks[1].norms == (5.0,)


def test_first_step_cuts_the_history():
    assert len(sparks_of(group_of([[1.0, 1.0]] * 10), [0], 6)[0].states) == 4
