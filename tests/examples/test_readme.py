"""The README says what the report says."""

import re

import pytest
from examples_world import FAULTY, ROOT

README = (ROOT / "README.md").read_text()
NAMES = {"feedback_autoencoder_keras3": "feedback_keras3"}  # as the demo calls a run, and as the tests do
BLOCKS = re.findall(r"<!-- report (\w+) -->\n(.*?)<!-- end of report -->", README, re.DOTALL)


def test_the_readme_opens_with_the_two_commands():
    [opening, *_] = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    assert [line.split("#")[0].strip() for line in opening.splitlines()] == ["make demo", "make test"]


def test_every_picture_and_file_that_the_readme_names_is_there():
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_situation_has_its_place_in_the_readme():
    assert {NAMES.get(name, name) for name, _ in BLOCKS} >= {s.name for s in FAULTY} - {"feedback_keras2"}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "text"), BLOCKS, ids=[name for name, _ in BLOCKS])
def test_the_readme_names_the_cause_that_the_report_names(reports, name, text):
    flat = " ".join(text.split())
    found = reports[NAMES.get(name, name)]
    causes = [i["cause"] for i in found["incidents"] if i["cause"]]
    assert causes
    for cause in causes:
        assert cause["code"] in flat
        assert f"examples/{cause['file'].rpartition('/')[2]}:{cause['line']}" in flat
