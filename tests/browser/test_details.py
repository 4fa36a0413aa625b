"""One variable, what is drawn, and what is filtered."""

from playwright.sync_api import expect
from tab import Tab, near

NAME = "encoder/gru/kernel"


def test_a_variable_shows_its_statistics_and_its_flight_step_by_step(page, each_board):
    tab = Tab(page, each_board).run("seq2seq")
    tab.row(NAME).click()
    panel = tab.frame.locator(".details")
    for words in (
        "(64, 96) float32",
        "6,144",
        "encoder/gru",
        "NaN since step 480",
        "121 steps of 600",
        "up to 5 elements",
    ):
        expect(panel).to_contain_text(words)
    flight = panel.get_by_role("region", name="Flight recorder")
    ill = flight.locator("tr.ill")
    expect(ill).to_have_count(1)
    expect(ill).to_contain_text("333")
    expect(ill).to_contain_text("5 NaN")
    flight.scroll_into_view_if_needed()
    expect(ill).to_be_in_viewport()  # without scrolling inside the table
    expect(panel).to_contain_text("Steps")
    tab.shot("details")
    flight.get_by_role("button", name="334", exact=True).click()
    expect(tab.frame.locator(".tick-cursor").first).to_have_text("334")


def test_a_variable_is_drawn_as_a_curve_on_demand(page, board):
    tab = Tab(page, board).run("seq2seq", details="v|adam|8")
    tab.button("Curve").click()
    expect(tab.frame.locator('.legend-list li[title="embedding/embeddings"]')).to_be_visible()
    tab.frame.get_by_role("button", name="Take embedding/embeddings out of the chart").click()
    expect(tab.frame.locator('.legend-list li[title="embedding/embeddings"]')).to_have_count(0)
    tab.frame.get_by_role("button", name="Draw encoder/gru/bias as a curve").click()
    expect(tab.frame.locator('.legend-list li[title="encoder/gru/bias"]')).to_have_count(0)


def test_filters_by_words_states_and_layers_and_says_when_nothing_is_left(page, board):
    tab = Tab(page, board).run("seq2seq")
    field = tab.frame.get_by_label("Filter variables by name")
    field.fill("dense")
    assert tab.names() == ["decoder/dense", "decoder/dense/kernel", "decoder/dense/bias"]
    field.fill("layer:encoder bias")
    assert tab.names() == ["encoder/gru/bias"]
    field.fill("state:nan")
    assert tab.names() == ["encoder/gru", "encoder/gru/kernel", "encoder/gru/recurrent_kernel", "encoder/gru/bias"]
    field.fill("no such thing")
    expect(tab.frame.get_by_text("No variable matches the filter.")).to_be_visible()
    tab.shot("all_filtered_out")
    tab.button("Clear the filter").click()
    assert len(tab.names()) == 7
    tab.frame.get_by_title("Show only healthy").click()
    assert "encoder/gru" not in tab.names()


def test_metrics_have_their_own_scale_and_guides(page, each_board):
    tab = Tab(page, each_board).run("seq2seq")
    before = tab.colour("decoder/gru", 0.5)
    tab.frame.get_by_label("Metric").select_option("zero_share")
    expect(tab.frame.locator(".colour-legend")).to_contain_text("100 %")
    expect(tab.frame.locator(".legend-list li").last.locator("xpath=preceding-sibling::li[1]")).to_contain_text("0.02")
    assert tab.colour("decoder/gru", 0.5) != before
    tab.frame.get_by_label("Metric").select_option("update_ratio")
    tab.shot("update_ratio")
    assert tab.hash["metric"] == "update_ratio"


def test_shows_the_smallest_where_the_worst_would_hide_it(page, each_board):
    tab = Tab(page, each_board).run("many", text="block0/q", domain="fit")
    worst = tab.colour("transformer/block0/q/kernel", 0.5)
    tab.button("View").click()
    tab.frame.get_by_label("the smallest").check()
    page.wait_for_timeout(800)
    assert tab.colour("transformer/block0/q/kernel", 0.5) != worst
    assert tab.hash["keep"] == "smallest"


def test_loss_and_learning_rate_come_below_the_curves_on_demand(page, board):
    tab = Tab(page, board).run("seq2seq")
    expect(tab.frame.locator(".chart")).to_have_count(1)
    tab.button("View").click()
    tab.frame.get_by_label("Loss").check()
    tab.frame.get_by_label("Learning rate").check()
    tab.frame.get_by_label("Global norm").check()
    expect(tab.frame.locator(".chart")).to_have_count(4)
    page.keyboard.press("Escape")
    tab.shot("loss_and_learning_rate")


def test_a_replica_can_be_looked_at_alone(page, each_board):
    tab = Tab(page, each_board).run("replicas")
    assert near(tab.colour("dense", 70.5 / 120), "#d50000")
    tab.button("View").click()
    tab.frame.get_by_label("Replica").select_option("0")
    page.wait_for_timeout(800)
    assert not near(tab.colour("dense", 70.5 / 120), "#d50000")
    tab.frame.get_by_label("Replica").select_option("1")
    page.wait_for_timeout(800)
    assert near(tab.colour("dense", 70.5 / 120), "#d50000")


def test_the_table_says_what_the_cells_show(page, each_board):
    tab = Tab(page, each_board).run("seq2seq")
    tab.press("t")
    table = tab.frame.locator(".table-view table")
    expect(table.locator("thead")).to_contain_text("450–499")
    row = table.locator("tr", has_text=NAME)
    expect(row).to_contain_text("NaN")
    expect(row.locator("td").last).to_have_text("NaN")
    expect(table.locator("tr", has_text="decoder/dense").first).to_contain_text("zero")
    tab.shot("table")
