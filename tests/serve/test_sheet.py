"""The matrix as CSV."""

import csv
import io

import numpy as np
import pytest
from serve_world import NAN, NONE, OK, FakeProvider, schema, steps, where

from tb_gradhealth.serve.sheet import harmless, sheet
from tb_gradhealth.serve.source import Source
from tb_gradhealth.serve.store import Store
from tb_gradhealth.serve.tiles import columns_for, stored_metric, tile

NAMES = ["enc/k", 'a,"b"', "=cmd()", "ünï/<b>"]


def test_a_line_for_each_variable_and_column() -> None:
    provider = FakeProvider()
    writer = provider.writer("r")
    writer.schema(schema(NAMES))
    writer.records(steps(7, [[OK, NAN, NONE, OK], [OK, OK, OK, OK]], [[0.1, 1, 1, 1e-20], [2, 3, 4, 5]]), "adam", 1_000)
    table = Store(Source(provider)).run(where(), "r")[0].tables["adam"]
    text = sheet(table, tile(table, columns_for(table, 0, 99, 10), stored_metric("norm_max")))
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == ["variable", "first_step", "last_step", "state", "value"]
    assert len(rows) == 1 + 4 * 2
    assert rows[1][:4] == ["enc/k", "7", "7", "ok"]
    assert np.float32(rows[1][4]) == np.float32(0.1)
    assert rows[3] == ['a,"b"', "7", "7", "nan", ""]
    assert rows[5][0] == "'=cmd()"
    assert np.float32(rows[7][4]) == np.float32(1e-20)


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@x", "\tx", "\rx"])
def test_no_name_is_a_formula_to_a_spreadsheet(name) -> None:
    assert harmless(name) == "'" + name
    assert harmless("a" + name) == "a" + name
