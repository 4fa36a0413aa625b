"""What the pages say: text, Markdown, HTML."""

import dataclasses
import re
import struct

import pytest
from report_world import CAUSE, NAN, Run, healthy, ill

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.reader import read_run
from tb_gradhealth.health import assess
from tb_gradhealth.report import Report, run_markdown


@pytest.fixture
def sick(tmp_path):
    ill(tmp_path / "run" / "gradhealth")
    return Report(tmp_path)


def test_the_page_names_verdict_incident_cause_variables_and_what_was_checked(sick):
    text = sick.text()
    for part in (
        "1 run: 1 unhealthy",
        "✕ run/gradhealth: unhealthy, steps 0–4, 2 variables",
        "NaN in the gradient of encoder/gru/kernel since step 3.",
        "✕ nan, steps 3–4",
        "cause: train.py:41",
        "loss = tf.sqrt(d)  # <root>",
        "the derivative of sqrt at 0 is infinite",
        "- 3 of 64 inputs were exactly 0",
        "→ add a small epsilon under the root",
        "1 other variable: nothing to see",
        "Checked: adam: 2 variables at 5 steps",
    ):
        assert part in text, part
    assert re.search(r"nan +3 +encoder/gru/kernel +▅▅▅✕✕", text)
    assert "\x1b" not in text


def test_colour_only_paints(sick):
    plain = re.sub(r"\x1b\[\d+m", "", sick.text(colour=True))
    assert plain == sick.text() and "\x1b[31m" in sick.text(colour=True)


def test_the_worst_run_comes_first_and_healthy_ones_take_a_line(tmp_path):
    healthy(tmp_path / "a")
    Run(tmp_path / "b").steps([[1.0, 1.0], [None, 1.0], [1.0, 1.0]]).close()
    ill(tmp_path / "c")
    report = Report(tmp_path)
    assert [run.name for run in report.runs] == ["c", "b", "a"]
    text = report.text()
    assert "3 runs: 1 unhealthy, 1 to watch, 1 healthy" in text
    assert re.findall(r"^✓ .*$", text, re.M) == ["✓ a: healthy, steps 0–4, 2 variables"]


def test_a_run_that_was_judged_already_is_not_judged_again(tmp_path):
    ill(tmp_path)
    log = read_run(str(tmp_path))
    judged = dataclasses.replace(assess(log), sentence="As it was judged before.")
    assert "As it was judged before." in run_markdown("run1", log, judged)
    assert run_markdown("run1", log, assess(log)) == run_markdown("run1", log)


def test_the_worst_variable_comes_first(tmp_path):
    Run(tmp_path, names=("a", "b", "c", "d")).steps([[1.0, 0.0, None, NAN]]).close()
    (run,) = Report(tmp_path).runs
    assert [(v.name, v.state) for v in run.ill] == [("d", "nan"), ("c", "none"), ("b", "zero")]


def test_lines_of_text_are_wrapped_to_the_width(sick):
    for width in (50, 80):
        page = sick.text(width=width)
        checked = page[page.index("  Checked") : page.index("low ▁")].splitlines()
        assert len(checked) > 1 and max(map(len, checked)) <= width


def test_markdown_shows_names_and_code_as_they_are(tmp_path):
    names = ("a_b*c|d`e", "<script>alert(1)</script>")
    Run(tmp_path / "x_y").steps([[1.0, 1.0]] * 3 + [[NAN, NAN]], CAUSE).close()
    Run(tmp_path / "odd", names=names).steps([[NAN, NAN]]).close()
    text = Report(tmp_path).markdown()
    assert "## ❌ x\\_y" in text
    assert "`loss = tf.sqrt(d)  # <root>`" in text
    assert "| ``a_b*c\\|d`e`` |" in text
    outside_code = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    assert "<script>" not in outside_code.replace("\\<script\\>", "")


def test_one_run_as_markdown(tmp_path):
    ill(tmp_path)
    text = run_markdown("run1", read_run(str(tmp_path)))
    assert text.startswith("## ❌ run1\n") and "`train.py:41`" in text


def test_html_escapes_what_the_user_named(tmp_path):
    Run(tmp_path, names=("<script>alert(1)</script>", "b&c")).steps(
        [[NAN, NAN]], dataclasses.replace(CAUSE, variables=("b&c",), step=0)
    ).close()
    report = Report(tmp_path)
    text = report._repr_html_()
    assert "<script>" not in text and "&lt;script&gt;" in text
    assert "b&amp;c" in text and "# &lt;root&gt;" in text
    assert report._repr_markdown_() == report.markdown()


def test_harmless_incidents_are_counted_and_not_told(tmp_path):
    Run(tmp_path).steps([[0.0, 1.0], [1.0, 1.0]]).close()
    text = Report(tmp_path).text()
    assert "1 harmless incident left out" in text and "exactly 0" not in text


def test_long_lists_end_in_how_many_more(tmp_path):
    names = tuple(f"layer{i}/kernel" for i in range(100))
    Run(tmp_path, names=names).steps([[NAN] * 100]).close()
    report = Report(tmp_path)
    assert "… and 70 more ill variables (--json has all)" in report.text()
    assert "… and 70 more ill variables" in report.html()
    assert "and 70 more" in report.markdown()
    assert len(report.to_json()["runs"][0]["variables"]) == 100


def test_a_damaged_file_is_told_and_what_came_before_is_reported(tmp_path):
    healthy(tmp_path, steps=20)
    (path,) = tmp_path.glob("*tfevents*")
    data = bytearray(path.read_bytes())
    at = 0
    for _ in range(10):  # the tenth event's length is damaged
        at += 16 + struct.unpack_from("<Q", data, at)[0]
    data[at] ^= 0xFF
    path.write_bytes(bytes(data))
    (run,) = Report(tmp_path).runs
    assert run.health.problems and 0 < run.health.steps < 20
    assert "damaged" in Report(tmp_path).text()


def test_a_cause_without_an_incident_is_shown_too(tmp_path):
    error = dataclasses.replace(
        CAUSE, kind="error", op="Unique", reason="no gradient is registered for Unique", step=-1
    )
    run = Run(tmp_path)
    run._log.causes(pb.Causes(format_version=1, causes=[error.to_proto()]), 0)
    run._file.flush()
    run.close()
    report = Report(tmp_path)
    for page in (report.text(), report.markdown(), report.html()):
        assert "no gradient is registered for Unique" in page and "train.py:41" in page
    assert report.to_json()["runs"][0]["causes"][0]["op"] == "Unique"
