"""Names, source lines and messages come from other people's logs: they are text, and nothing else."""

from browser_logs import HOSTILE
from playwright.sync_api import expect
from tab import Tab


def test_everything_from_a_log_is_text(page, each_board):
    tab = Tab(page, each_board).run("hostile", table="1", details="v|adam|0", picked=[f"v|adam|{i}" for i in range(8)])
    expect(tab.frame.locator("article.cause")).to_contain_text("</code><script>window.parent.pwned=1</script>")
    expect(tab.frame.locator(".details h2")).to_have_text(HOSTILE[0])
    assert tab.frame.locator(".page script, .page img, article h3 b, .facts i").count() == 0
    assert page.evaluate("window.pwned") is None
    tab.shot("hostile_names")


def test_variables_of_one_name_are_told_apart(page, each_board):
    tab = Tab(page, each_board).run("hostile", toggled=["l|adam|twin"])
    names = tab.names()
    assert "twin/kernel #3" in names
    assert "twin/kernel #4" in names


def test_odd_names_can_be_opened_filtered_and_linked(page, each_board):
    tab = Tab(page, each_board).run("hostile")
    tab.frame.get_by_label("Filter variables by name").fill('"quoted" &')
    assert tab.names() == [HOSTILE[1]]
    tab.row(HOSTILE[1]).click()
    expect(tab.frame.locator(".details h2")).to_have_text(HOSTILE[1])
    page.reload()
    expect(tab.frame.locator(".details h2")).to_have_text(HOSTILE[1])


def test_a_hostile_link_is_text_too(page, board):
    tab = Tab(page, board).open(run="<img src=x onerror='window.parent.pwned=1'>", text="<script>1</script>")
    expect(tab.verdict).to_contain_text("<img src=x")
    assert page.evaluate("window.pwned") is None


def test_asks_nobody_but_the_server_it_came_from(page, board):
    hosts = set()
    page.on("request", lambda request: hosts.add(request.url.split("/")[2]) if "gradhealth" in request.url else None)
    Tab(page, board).run("seq2seq", details="v|adam|1", box="1-9", table="1", beside=["vae/gradhealth"])
    assert hosts == {board.url.removeprefix("http://")}
