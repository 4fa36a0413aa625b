"""The matrix of a tile as CSV: the numbers behind the picture. Pure."""

import csv
import io

from tb_gradhealth.format.states import State
from tb_gradhealth.serve.numbers import finite_list
from tb_gradhealth.serve.table import Table
from tb_gradhealth.serve.tiles import Tile

MAX_CELLS = 2**22
"""Of one answer: some 250 MB of text."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def sheet(table: Table, matrix: Tile) -> str:
    """One line for each variable and column: ``variable,first_step,last_step,state,value``."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("variable", "first_step", "last_step", "state", "value"))
    words = [State(value).word for value in sorted(State)]
    steps = list(zip(matrix.first.tolist(), matrix.last.tolist(), strict=True))
    for variable, values, states in zip(table.schema.variables, matrix.values, matrix.states, strict=True):
        name = harmless(variable.name)
        writer.writerows(
            (name, first, last, words[state], "" if value is None else value)
            for (first, last), state, value in zip(steps, states.tolist(), finite_list(values), strict=True)
        )
    return text.getvalue()


def harmless(text: str) -> str:
    """Text that a spreadsheet does not take for a formula: names come from other people's logs."""
    return f"'{text}" if text.startswith(_FORMULA) else text
