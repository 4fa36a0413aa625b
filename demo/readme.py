"""Puts what the report says about the demo's runs into README.md, between its marks `report NAME` and `end of report`.

    make screenshots    # pictures and texts

The texts are the report's own, up to its table of variables; paths are shortened to the project's folder.
"""

import re
import sys

from demo.runs import LOGS, ROOT
from tb_gradhealth.report.model import Report

README = ROOT / "README.md"
MARK = re.compile(r"<!-- report (\w+) -->\n.*?<!-- end of report -->", re.DOTALL)
WIDTH = 100


def text_of(name: str) -> str:
    """What the report says about one run: verdict, incidents and causes."""
    said = Report(str(LOGS), runs=[f"{name}/gradhealth"]).text(colour=False, ascii_only=False, width=WIDTH)
    lines = said.splitlines()
    first = next(i for i, line in enumerate(lines) if name in line and i > 0)
    last = next(i for i, line in enumerate(lines) if i > first and line.lstrip().startswith(("state ", "Checked:")))
    return "\n".join(lines[first:last]).strip().replace(f"{ROOT}/", "").replace("/gradhealth:", ":")


def main() -> int:
    """The command line; returns the exit code."""
    before = README.read_text()
    after = MARK.sub(lambda m: f"<!-- report {m[1]} -->\n```\n{text_of(m[1])}\n```\n<!-- end of report -->", before)
    README.write_text(after)
    print(f"{README.name}: {len(MARK.findall(after))} reports{'' if after != before else ', none changed'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
