"""The milder rules: each fires on what it is for, and not on what healthy trainings do."""

import numpy as np
import pytest
from health_world import INF, NAN, run_of, schema_of, steps_of, widened

from tb_gradhealth.health import Tracker, assess

DEEP = 8


def noise(steps, rows, seed=0, spread=0.2):
    """Norms as healthy trainings have them: factors around 1, `spread` in natural logarithms."""
    return np.exp(np.random.default_rng(seed).normal(0, spread, (steps, rows)))


def health_of(norms, loss=None, schema=None, width=1, **scalars):
    norms = np.asarray(norms, float)
    if loss is not None:
        scalars["loss"] = np.broadcast_to(loss, len(norms))
    windows = steps_of(norms.tolist(), **scalars)
    return assess(run_of(widened(windows, width), schema or schema_of(norms.shape[1])))


def kinds(health):
    return sorted({i.kind for i in health.incidents if i.severity != "info"})


def falling(steps, first=2.3, last=0.1):
    return np.geomspace(first, last, steps)


# vanishing ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1, 16])
def test_a_stack_whose_norms_shrink_layer_by_layer_towards_its_input_vanishes(width):
    depth = 10.0 ** -np.arange(DEEP)[::-1]
    health = health_of(noise(1024, DEEP) * depth, loss=2.3, width=width)
    assert kinds(health) == ["vanishing"] and health.verdict == "watch"
    ill = [v.index for v in health.variables if v.state == "vanishing"]
    assert ill[:4] == [0, 1, 2, 3] and set(ill) <= {0, 1, 2, 3, 4}  # the fifth lies at the limit
    assert {v.rule for v in health.variables if v.state == "vanishing"} == {"vanishing_depth"}
    assert health.variables[0].since == 0


def test_depth_is_the_forward_order_where_the_schema_knows_it():
    starved = noise(1024, DEEP) * 10.0 ** -np.arange(DEEP)  # the schema lists the last layer first
    listed = [{"depth": DEEP - i} for i in range(DEEP)]
    assert kinds(health_of(starved, loss=2.3)) == []
    health = health_of(starved, loss=2.3, schema=schema_of(listed))
    assert kinds(health) == ["vanishing"] and health.variables[-1].state == "vanishing"
    listed[0] = {}  # known of some only: the schema's order stands
    assert kinds(health_of(starved, loss=2.3, schema=schema_of(listed))) == []


def test_tiny_norms_everywhere_are_no_illness():
    health = health_of(noise(200, DEEP) * 1e-9, loss=falling(200, 2e-7, 1e-8))
    assert health.verdict == "healthy"


def test_biases_that_stay_at_round_off_for_ever_are_no_illness():
    pairs = []
    for layer in range(4):
        pairs += [
            {"name": f"conv{layer}/kernel", "layer": f"conv{layer}"},
            {"name": f"conv{layer}/bias", "layer": f"conv{layer}", "shape": [4]},
        ]
    scale = np.tile([1.0, 1e-9], 4)
    assert health_of(noise(300, 8) * scale, schema=schema_of(pairs)).verdict == "healthy"


def test_an_attention_key_bias_of_two_dimensions_is_a_bias():
    names = ["embedding/embeddings", "attention/key/kernel", "attention/key/bias", "dense/kernel"]
    schema = schema_of([{"name": name, "layer": name.rpartition("/")[0], "shape": [2, 16]} for name in names])
    assert health_of(noise(300, 4) * [1, 3e-4, 1e-10, 1], schema=schema).verdict == "healthy"


def test_single_kernels_in_the_middle_may_lie_four_decades_below():
    assert health_of(noise(300, 6) * [1, 1e-4, 1e-4, 0.5, 1, 1]).verdict == "healthy"


def test_a_start_with_zero_initialised_layers_is_no_vanishing():
    norms = noise(300, DEEP)
    norms[0, :-1] = 0
    norms[1:12, :-1] *= np.geomspace(1e-6, 1, 11)[:, None]
    assert health_of(norms, loss=falling(300)).verdict == "healthy"


def test_a_recurrence_that_forgets_its_input_vanishes():
    health = health_of(noise(100, 3) * [1e-9, 0.1, 1], loss=1.4)
    assert [v.state for v in health.variables] == ["vanishing", "ok", "ok"]


def test_a_layer_that_fades_while_the_others_learn_vanishes():
    norms = noise(400, 4)
    norms[150:, 2] *= 1e-5
    health = health_of(norms, loss=falling(400))
    assert [v.state for v in health.variables] == ["ok", "ok", "vanishing", "ok"]
    assert health.variables[2].rule == "vanishing_past"
    assert 150 <= health.variables[2].since <= 160


def test_a_training_that_converges_fades_everywhere_and_is_healthy():
    decay = np.geomspace(1, 1e-7, 400)[:, None]
    assert health_of(noise(400, 4) * decay, loss=np.geomspace(1, 1e-14, 400)).verdict == "healthy"


def test_a_convex_problem_solved_to_its_floor_is_healthy():
    decay = np.geomspace(1, 1e-7, 400)[:, None]
    assert health_of(noise(400, 4) * decay, loss=0.3 + np.geomspace(0.7, 1e-9, 400)).verdict == "healthy"


def test_gradients_that_go_while_the_loss_stays_are_saturated():
    norms = noise(400, 4)
    norms[200:] *= 1e-5
    health = health_of(norms, loss=np.r_[falling(200, 2.3, 0.5), np.full(200, 3.0)])
    assert "vanishing" in kinds(health)
    assert {v.rule for v in health.variables} == {"vanishing_flat"}


def test_a_surface_flat_from_the_start_is_told_where_the_loss_does_not_fall():
    assert kinds(health_of(noise(100, 4) * 1e-8, loss=1.0)) == ["vanishing"]
    assert health_of(noise(100, 4) * 1e-8, loss=1e-4).verdict == "healthy"


def test_embeddings_do_not_count_as_first_layers():
    names = ["users/embeddings", "items/embeddings", "dense/kernel", "top/kernel"]
    schema = schema_of([{"name": name, "layer": name.rpartition("/")[0]} for name in names])
    assert health_of(noise(200, 4) * [1e-4, 1e-4, 1, 1], schema=schema).verdict == "healthy"
    starved = health_of(noise(200, 4) * [1e-9, 1e-9, 1e-5, 1], schema=schema)
    assert [v.state for v in starved.variables] == ["vanishing"] * 3 + ["ok"]


def test_loss_that_wavers_after_a_steep_start_is_not_flat():
    size = np.r_[np.geomspace(1e5, 1, 20), np.full(380, 1.0)]
    loss = np.r_[np.geomspace(100, 12, 20), 15 + 6 * np.sin(np.arange(380) / 20)]
    assert health_of(noise(400, 4) * size[:, None], loss=loss).verdict == "healthy"


# exploding ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1, 8])
def test_norms_that_grow_by_decades_with_the_loss_explode(width):
    growth = np.r_[np.ones(512), np.geomspace(1, 1e4, 512)]
    health = health_of(noise(1024, 4) * growth[:, None], loss=np.r_[falling(512), 0.1 * growth[512:]], width=width)
    assert kinds(health) == ["exploding"]
    assert health.variables[0].state == "exploding" and health.variables[0].rule == "exploding_growth"
    assert 512 < health.variables[0].since < 900


def test_a_norm_may_grow_fortyfold_while_the_loss_falls():
    growth = np.geomspace(1, 40, 600)[:, None]
    assert health_of(noise(600, 4) * growth, loss=falling(600)).verdict == "healthy"


def test_a_warm_up_from_almost_nothing_is_no_explosion():
    growth = np.r_[np.geomspace(1e-3, 1, 100), np.ones(300)]
    assert health_of(noise(400, 4) * growth[:, None], loss=np.r_[np.full(100, 2.3), falling(300)]).verdict == "healthy"


def test_a_start_far_above_the_later_level_is_a_start():
    start = np.r_[np.geomspace(1e4, 1, 30), np.ones(300)]
    assert health_of(noise(330, 4) * start[:, None], loss=falling(330, 100, 0.1)).verdict == "healthy"


def test_a_bounce_from_a_converged_state_is_no_explosion():
    size = np.r_[np.geomspace(1, 1e-4, 200), np.full(100, 1e-4), np.full(100, 5e-2)]
    loss = np.r_[np.geomspace(1, 1e-8, 200), np.full(100, 1e-8), np.full(100, 1e-3)]
    assert health_of(noise(400, 4) * size[:, None], loss=loss).verdict == "healthy"


def test_a_new_head_on_a_trained_body_begins_anew():
    rows = [["-", size, 0.01 * size] for size in np.geomspace(1, 1e-3, 200)]
    rows += [[30.0, 30.0, 30.0]] * 100
    loss = np.r_[np.geomspace(2, 1e-3, 200), np.full(100, 5.0)]
    assert assess(run_of(steps_of(rows, loss=loss))).verdict == "healthy"
    without = [[30.0 if cell == "-" else cell for cell in row] for row in rows]
    assert assess(run_of(steps_of([row[1:] for row in without], loss=loss))).verdict == "watch"


def test_enormous_from_the_first_step_is_exploding():
    health = health_of([[1e12, 1e13, 1e11]], loss=5.0)
    assert kinds(health) == ["exploding"] and health.verdict == "watch"
    assert health.variables[1].state == "exploding" and health.variables[1].since == 0


def test_large_gradients_of_large_weights_are_not_enormous():
    windows = steps_of((noise(50, 3) * 1e6).tolist())
    windows.detail_step[0] = 0
    windows.weight_norm[0] = 1000.0
    assert assess(run_of(windows)).verdict == "healthy"
    windows.weight_norm[0] = 1.0
    assert assess(run_of(windows)).verdict == "watch"


# spikes and oscillation -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1, 4])
def test_one_bad_batch_is_a_spike_at_its_step(width):
    norms = noise(600, 4)
    norms[301] *= 300
    health = health_of(norms, loss=falling(600), width=width)
    (incident,) = [i for i in health.incidents if i.severity != "info"]
    assert incident.kind == "spiking" and not incident.open
    assert incident.first_step == 301
    assert health.verdict == "watch" and health.variables[0].state == "ok"


def test_heavy_tails_are_no_spikes():
    norms = np.exp(np.random.default_rng(1).laplace(0, 0.35, (5000, 1))) * noise(5000, 4)
    assert health_of(norms, loss=falling(5000)).verdict == "healthy"


def test_a_late_outlier_below_the_level_of_the_start_is_no_spike():
    norms = noise(600, 4) * np.geomspace(100, 0.1, 600)[:, None]
    norms[500] *= 50
    assert health_of(norms, loss=falling(600)).verdict == "healthy"


def test_a_first_large_step_of_a_young_run_is_no_spike():
    norms = noise(40, 4)
    norms[20] *= 300
    assert "spiking" not in kinds(health_of(norms, loss=falling(40)))


def test_a_level_that_stays_up_is_no_spike():
    norms = noise(600, 4)
    norms[301:] *= 30
    assert "spiking" not in kinds(health_of(norms, loss=falling(600)))


def test_a_spike_is_told_within_ten_steps():
    norms = noise(600, 4)
    norms[301] *= 300
    windows, tracker = steps_of(norms.tolist()), Tracker(schema_of(4))
    tracker.feed(windows.select(slice(0, 301)))
    assert [i.kind for i in tracker.feed(windows.select(slice(301, 311)))] == ["spiking"]


def test_a_single_variable_can_spike():
    norms = noise(300, 6)
    norms[200, 3] = 500
    health = health_of(norms, loss=falling(300))
    (incident,) = [i for i in health.incidents if i.kind == "spiking"]
    assert incident.variables == ("layer3/kernel",)


def test_a_norm_that_jumps_at_every_other_step_oscillates():
    swing = np.where(np.arange(200) % 2, 10.0, 1.0)[:, None]
    health = health_of(noise(200, 4, spread=0.05) * swing, loss=np.where(np.arange(200) % 2, 2.0, 1.0))
    assert kinds(health) == ["oscillating"]
    assert health.variables[0].state == "oscillating"


@pytest.mark.parametrize("width", [2, 3, 16])
def test_oscillation_shows_in_wide_windows_too(width):
    swing = np.where(np.arange(64 * width) % 2, 10.0, 1.0)
    health = health_of(noise(64 * width, 4) * swing[:, None], loss=1.0, width=width)
    assert kinds(health) == ["oscillating"] and {v.rule for v in health.variables} == {"oscillating"}
    (incident,) = [i for i in health.incidents if i.kind == "oscillating"]
    assert incident.evidence["swing_decades"] == pytest.approx(1.0, abs=0.4)


@pytest.mark.parametrize("width", [2, 3, 16])
@pytest.mark.parametrize("spread", [0.2, 1.0, 2.0])
def test_noise_is_no_oscillation_in_wide_windows(width, spread):
    norms = noise(128 * width, 8, seed=width, spread=spread)
    assert kinds(health_of(norms * norms[:, :1], loss=1.0, width=width)) in ([], ["spiking"])


def test_a_large_step_now_and_then_is_no_oscillation_in_wide_windows():
    norms = noise(1024, 4)
    norms[::16] *= 8
    assert kinds(health_of(norms, loss=1.0, width=16)) == []


def test_one_small_variable_that_swings_is_no_oscillation_of_the_group():
    norms = noise(1024, 4)
    norms[:, 0] *= 0.1 * np.where(np.arange(1024) % 2, 5.0, 1.0)
    assert kinds(health_of(norms, loss=1.0, width=16)) == []


def test_noise_is_no_oscillation():
    health = health_of(noise(2000, 4, spread=1.5), loss=1.0)
    assert "oscillating" not in {i.kind for i in health.incidents}


def test_layers_that_take_turns_are_no_oscillation():
    rows = [[10.0, 1.0, None] if t % 2 else [1.0, None, 1.0] for t in range(200)]
    windows = steps_of(rows, loss=np.full(200, 1.0))
    assert assess(run_of(windows)).verdict == "healthy"
    assert "oscillating" not in kinds(assess(run_of(widened(windows, 4))))


# the optimizer and the loss -------------------------------------------------------------------------------------------


def with_ratios(ratios, every=10):
    windows = steps_of(noise(every * len(ratios), 3).tolist())
    for index, ratio in enumerate(ratios):
        windows.detail_step[index * every] = index * every
        windows.weight_norm[index * every] = 1.0
        windows.update_ratio[index * every] = ratio
    return assess(run_of(windows))


def test_updates_as_large_as_the_weights_are_told():
    health = with_ratios([1e-3, 1e-3, 2.0])
    (incident,) = [i for i in health.incidents if i.severity != "info"]
    assert (incident.kind, incident.rule, incident.first_step) == ("exploding", "update_ratio_high", 20)
    assert incident.evidence["update_ratio"] == pytest.approx(2.0)


def test_updates_of_a_usual_size_and_those_of_a_warm_up_are_well():
    assert with_ratios([0.0, 1e-6, 1e-3, 5e-2, 1e-3, 1e-5, 0.0]).verdict == "healthy"


def test_weights_that_never_move_are_told_after_three_looks():
    assert with_ratios([1e-10, 1e-10]).verdict == "healthy"
    assert kinds(with_ratios([1e-10] * 3)) == ["vanishing"]


def clipped(norm, steps=400):
    windows = steps_of((noise(steps, 3) * norm).tolist(), clipped_steps=1)
    return assess(run_of(windows, schema_of(3, global_clip_norm=1.0)))


def test_clipping_at_every_step_is_known_and_told_where_little_is_left():
    usual, extreme = clipped(3.0), clipped(1000.0)
    assert usual.verdict == "healthy" and {i.rule for i in usual.incidents} == {"clipping"}
    assert extreme.verdict == "watch"
    assert next(i for i in extreme.incidents).evidence["norm_per_limit"] == pytest.approx(1000 * 3**0.5, rel=0.2)


def test_a_loss_scale_that_collapses_is_told():
    scale = np.float64(2.0) ** (15 - np.arange(40))
    health = health_of(noise(40, 2), loss=falling(40), loss_scale=scale)
    assert [(i.kind, i.rule, i.first_step) for i in health.incidents] == [("overflow", "loss_scale_collapsed", 26)]
    assert health_of(noise(40, 2), loss=falling(40), loss_scale=1.0).verdict == "healthy"


def test_an_inf_loss_with_finite_gradients_is_told_and_does_not_break_the_run():
    loss = np.array([1.0, INF, 1.0])
    health = health_of(noise(3, 2), loss=loss, loss_nonfinite_steps=~np.isfinite(loss))
    assert [(i.kind, i.first_step, i.variables) for i in health.incidents] == [("inf", 1, ())]
    assert health.verdict == "watch" and {v.state for v in health.variables} == {"ok"}


def test_a_nan_loss_with_nan_gradients_is_one_story():
    health = health_of([[1.0], [NAN]], loss=[1.0, NAN], loss_nonfinite_steps=[0, 1])
    assert [i.rule for i in health.incidents] == ["nan"]


# all of them ----------------------------------------------------------------------------------------------------------


def a_bit_of_everything():
    norms = noise(700, 6)
    norms[:200, :3] *= 10.0 ** -np.arange(4, 1, -1)
    norms[250] *= 500
    norms[300:400] *= np.geomspace(1, 1e5, 100)[:, None]
    norms[450:500:2] *= 20
    norms[520:560, 2] = 0
    norms[600:, 4] *= 1e-6
    windows = steps_of(norms.tolist(), loss=np.r_[np.full(300, 1.0), np.geomspace(1, 1e5, 100), np.full(300, 2.0)])
    windows.detail_step[::50] = windows.last_step[::50]
    windows.update_ratio[::50] = np.geomspace(1e-4, 3, 14)[:, None]
    windows.weight_norm[::50] = 1.0
    return windows


@pytest.mark.parametrize("portion", [1, 5, 64, 300])
def test_the_portions_in_which_windows_come_do_not_matter(portion):
    windows = a_bit_of_everything()
    whole, parts = Tracker(schema_of(6)), Tracker(schema_of(6))
    whole.feed(windows)
    for low in range(0, len(windows), portion):
        parts.feed(windows.select(slice(low, low + portion)))
    assert {i.kind for i in whole.incidents()} >= {"spiking", "exploding", "vanishing", "zero"}
    assert parts.incidents() == whole.incidents()


def test_nothing_warns_about_numbers():
    rows = [[NAN, None, 0.0, INF], ["-", "-", "-", "-"], [0.0, 0.0, 0.0, 0.0], [1e-38, 3e38, 1.0, 0.0]] * 20
    health = assess(run_of(steps_of(rows)))  # warnings are errors here
    assert health.verdict == "unhealthy"


def test_a_group_without_variables_of_two_dimensions_is_judged_too():
    schema = schema_of([{"shape": []}, {"shape": [3]}])
    assert health_of(noise(100, 2), loss=falling(100), schema=schema).verdict == "healthy"
