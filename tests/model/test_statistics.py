"""Statistics against scipy and statsmodels on random tables, and what holds for all."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from assay.model import (
    Interval,
    PairedTable,
    Share,
    adjust_chances,
    compare_pairs,
    compare_shares,
    compute_fisher,
    compute_mcnemar,
    wilson,
)

shares = st.integers(0, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
some = st.builds(lambda pair: Share(*pair), shares.filter(lambda pair: pair[1] > 0))
counts = st.integers(0, 60)
tables = st.builds(PairedTable, counts, counts, counts, counts).filter(lambda table: sum(table) > 0)


@pytest.mark.parametrize(
    ("hits", "total", "low", "high"),
    [
        (8, 10, 0.4902, 0.9433),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (50, 100, 0.4038, 0.5962),
        (0, 0, 0.0, 1.0),
    ],
)
def test_known_intervals(hits: int, total: int, low: float, high: float) -> None:
    assert wilson(hits, total) == pytest.approx((low, high), abs=5e-5)


@given(some)
def test_the_interval_of_a_share_is_that_of_statsmodels(share: Share) -> None:
    found = proportion_confint(share.hits, share.trials, method="wilson")
    assert share.interval == pytest.approx(found, abs=1e-12)


@given(some)
def test_the_share_lies_inside_and_the_mirror_image_is_the_same(share: Share) -> None:
    found, mirrored = share.interval, wilson(share.trials - share.hits, share.trials)
    assert share.value is not None
    assert 0 <= found.low <= share.value <= found.high <= 1
    assert found.low == pytest.approx(1 - mirrored.high)


@pytest.mark.parametrize("counted", [(3, 2), (-1, 2)])
def test_what_is_no_share_is_refused(counted: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="is not a share"):
        wilson(*counted)
    with pytest.raises(ValueError, match="are not counts"):
        compute_fisher(Share(*counted), Share(1, 2))
    with pytest.raises(ValueError, match="are not counts"):
        compute_mcnemar(-1, 2)


def test_an_interval_reads_as_percentages() -> None:
    assert str(Interval(0.4902, 0.9433)) == "49% to 94%"


def test_a_share_tells_its_interval_and_nothing_without_trials() -> None:
    assert str(Share(8, 10)) == "80% (49% to 94%)"
    assert str(Share(0, 0)) == "–"
    assert Share(0, 0).value is None
    assert Share(0, 0).to_values() == {
        "passed": 0, "of": 0, "rate": None, "low": None, "high": None,
    }  # fmt: skip


@given(st.integers(0, 3000), st.integers(0, 3000))
def test_mcnemar_is_that_of_statsmodels(lost: int, gained: int) -> None:
    found = mcnemar([[0, lost], [gained, 0]], exact=True).pvalue if lost + gained else 1.0
    assert compute_mcnemar(lost, gained) == pytest.approx(found, rel=1e-9)


@given(some, some)
def test_fisher_is_that_of_scipy(before: Share, after: Share) -> None:
    table = [[share.hits, share.trials - share.hits] for share in (before, after)]
    found = stats.fisher_exact(table).pvalue
    assert compute_fisher(before, after) == pytest.approx(found, rel=1e-9)
    assert compute_fisher(before, after) == pytest.approx(compute_fisher(after, before))


@given(some, some)
def test_the_difference_of_two_shares_is_that_of_statsmodels(before: Share, after: Share) -> None:
    found = confint_proportions_2indep(
        after.hits, after.trials, before.hits, before.trials, method="newcomb", compare="diff"
    )
    difference = compare_shares(before, after)
    assert difference.interval == pytest.approx(found, abs=1e-9)
    assert difference.value is not None
    assert difference.interval.low <= difference.value <= difference.interval.high


@given(tables)
def test_the_difference_of_pairs_excludes_zero_where_the_score_test_rejects(
    table: PairedTable,
) -> None:
    lost, gained = table.lost, table.gained
    low, high = compare_pairs(table).interval
    if lost + gained == 0:
        assert low <= 0 <= high
        return
    chance = mcnemar([[0, lost], [gained, 0]], exact=False, correction=False).pvalue
    if abs(chance - 0.05) > 1e-9:
        assert (low <= 0 <= high) == (chance > 0.05)


@settings(max_examples=25)
@given(tables)
def test_the_limits_of_the_difference_of_pairs_are_where_the_likeliest_table_is_rejected(
    table: PairedTable,
) -> None:
    """The same test, with the likeliest table searched for by scipy and not by a formula."""
    found = compare_pairs(table)
    assert found.value == pytest.approx((table.gained - table.lost) / sum(table))
    assert found.value is not None
    assert -1 <= found.interval.low <= found.value <= found.interval.high <= 1
    for limit in found.interval:
        if abs(limit) < 1 - 1e-6:
            assert abs(score(table, limit)) == pytest.approx(1.959963984540054, abs=2e-3)


def score(table: PairedTable, difference: float) -> float:
    pairs, same = sum(table), table.both + table.neither

    def unlikelihood(lost: float) -> float:
        chances = [(table.lost, lost), (table.gained, lost + difference)]
        chances.append((same, 1 - 2 * lost - difference))
        return -sum(count * math.log(max(chance, 1e-300)) for count, chance in chances if count)

    low, high = max(0.0, -difference), (1 - difference) / 2
    lost = optimize.minimize_scalar(
        unlikelihood, bounds=(low, high), method="bounded", options={"xatol": 1e-12}
    ).x
    lost = min((low, lost, high), key=unlikelihood)
    variance = (2 * lost + difference - difference**2) / pairs
    return ((table.gained - table.lost) / pairs - difference) / math.sqrt(variance)


@given(tables)
def test_exchanging_the_runs_mirrors_the_difference(table: PairedTable) -> None:
    found = compare_pairs(table)
    other = compare_pairs(table._replace(lost=table.gained, gained=table.lost))
    assert found.value == pytest.approx(-(other.value or 0.0))
    assert found.interval == pytest.approx((-other.interval.high, -other.interval.low), abs=1e-9)


def test_the_interval_of_pairs_holds_the_truth_about_as_often_as_it_says() -> None:
    chances = (0.55, 0.2, 0.1, 0.15)
    drawn = stats.multinomial.rvs(40, chances, size=2000, random_state=7)
    inside = sum(
        interval.low <= chances[2] - chances[1] <= interval.high
        for interval in (compare_pairs(PairedTable(*map(int, row))).interval for row in drawn)
    )
    assert 0.94 < inside / len(drawn) < 0.97


def test_of_nothing_nothing_is_known() -> None:
    everything = (None, Interval(-1.0, 1.0))
    assert compare_pairs(PairedTable()) == everything
    assert compare_shares(Share(0, 0), Share(1, 2)) == everything
    assert compare_pairs(PairedTable()).to_values() == {"value": None, "low": None, "high": None}
    assert (compute_mcnemar(0, 0), compute_fisher(Share(0, 0), Share(1, 2))) == (1.0, 1.0)


@pytest.mark.parametrize("pairs", [1, 3, 1000])
def test_pairs_that_all_turn_reach_the_end(pairs: int) -> None:
    gained = compare_pairs(PairedTable(gained=pairs))
    assert (gained.value, gained.interval.high) == (1.0, 1.0)
    same = compare_pairs(PairedTable(both=pairs))
    # With no pair that differs the limits are those of Wilson for no hit.
    assert same.interval.high == pytest.approx(wilson(0, pairs).high)


@settings(max_examples=20)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_adjusted_chances_are_those_of_statsmodels(chances: list[float]) -> None:
    found = multipletests(chances, method="holm")[1]
    assert adjust_chances(chances) == pytest.approx(list(found))
    smallest = sorted(chances)[:5]
    assert adjust_chances(smallest, len(chances)) == pytest.approx(sorted(found)[:5])
