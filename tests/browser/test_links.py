"""Deep links, and taking things out of the page."""

import csv
import io

from playwright.sync_api import expect
from tab import Tab, link


def test_a_link_restores_the_whole_view(page, each_board, new_page):
    tab = Tab(page, each_board).run(
        "seq2seq",
        steps="300-399",
        metric="largest",
        text="gru",
        details="v|adam|1",
        pinned="333",
        picked=["v|adam|0", "v|adam|3"],
        extras=["loss"],
        toggled=["l|adam|decoder/gru"],
        box="310-340",
        table="1",
        scale="linear",
    )
    hash_before = tab.hash
    other = new_page()
    other.goto(page.url)
    again = Tab(other, each_board)
    again.painted()
    assert again.hash == hash_before
    expect(again.frame.locator(".axis-label")).to_have_text("step 300–399")
    expect(again.frame.get_by_label("Metric")).to_have_value("largest")
    expect(again.frame.get_by_label("Filter variables by name")).to_have_value("gru")
    expect(again.frame.locator(".details h2")).to_have_text("encoder/gru/recurrent_kernel")
    expect(again.frame.locator(".pinned").first).to_be_visible()
    expect(again.frame.locator(".legend-list li[title]")).to_have_count(2)
    expect(again.frame.locator(".chart")).to_have_count(2)
    expect(again.frame.locator(".rank")).to_contain_text("310–340")
    expect(again.frame.locator(".table-view")).to_be_visible()


def test_a_link_of_nonsense_shows_the_run_as_always(page, board):
    tab = Tab(page, board).run(
        "seq2seq", steps="9-3", metric="mood", details="v|nobody|99", picked=["x"], beside=["gone"]
    )
    expect(tab.verdict).to_contain_text("Unhealthy")
    expect(tab.frame.locator(".axis-label")).to_have_text("step 0–599")


def test_another_tab_of_tensorboard_and_back_keeps_the_view(page, board):
    tab = Tab(page, board).run("seq2seq", steps="300-399")
    page.locator(".plugins, mat-tab-header, plugin-selector").get_by_text("Scalars").first.click()
    expect(page.locator('iframe[src*="gradhealth"]')).not_to_be_visible()
    page.get_by_text("Grad Health").first.click()
    expect(tab.frame.locator(".axis-label")).to_have_text("step 300–399")
    tab.press("+")
    assert tab.hash["run"] == "seq2seq/gradhealth"


def test_following_a_link_while_the_page_is_open_shows_what_it_says(page, board):
    tab = Tab(page, board).run("seq2seq")
    page.evaluate("hash => { location.hash = hash }", link(run="vae/gradhealth"))
    expect(tab.verdict).to_contain_text("No gradient (None)")


def test_the_report_is_copied_as_markdown(new_page, board):
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    tab = Tab(page, board).run("seq2seq")
    tab.button("Export").click()
    tab.button("Copy report as Markdown").click()
    expect(tab.frame.get_by_text("Report copied as Markdown")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "encoder/gru/kernel" in copied
    assert "train.py:41" in copied
    assert "#" in copied


def test_the_picture_is_saved_as_png(page, board):
    tab = Tab(page, board).run("seq2seq")
    tab.button("Export").click()
    with page.expect_download() as saved:
        tab.button("Save picture as PNG").click()
    assert saved.value.suggested_filename == "seq2seq_gradhealth.png"
    path = tab_artifact(saved.value)
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG")
    width, height = int.from_bytes(content[16:20]), int.from_bytes(content[20:24])
    assert width > 1000
    assert height > 600


def test_the_numbers_are_saved_as_csv(page, each_board):
    tab = Tab(page, each_board).run("seq2seq", steps="330-339")
    tab.button("Export").click()
    with page.expect_download() as saved:
        tab.frame.get_by_role("link", name="Save numbers of adam as CSV").click()
    rows = list(csv.DictReader(io.StringIO(tab_artifact(saved.value).read_text())))
    assert len(rows) == 9 * 10
    nan = [row for row in rows if row["state"] == "nan"]
    assert {row["variable"] for row in nan} == {
        "encoder/gru/kernel",
        "encoder/gru/recurrent_kernel",
        "encoder/gru/bias",
    }
    assert {row["first_step"] for row in nan} == {"333"}


def tab_artifact(download):
    from tab import ARTIFACTS

    ARTIFACTS.mkdir(parents=True, exist_ok=True)
    path = ARTIFACTS / download.suggested_filename
    download.save_as(path)
    return path
