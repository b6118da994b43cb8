"""The study of when the uncertainty model learns."""

from collections import Counter

from augcl.files import write_json
from augcl.paper import collapse
from augcl.paper.records import COLLAPSE


def test_every_combination_is_tried_once_and_is_what_its_name_says():
    fits = list(collapse.every_fit())
    assert len(fits) == len({fit.name for fit in fits}) == 2**5 * 5
    for fit in fits:
        own = fit.hardness().get_params()
        assert own["normalize"] == (fit.inputs == "unit")
        named = {name: own[name] for name in ("partition_of", "optimizer", "reduction", "reward")}
        assert named == {name: getattr(fit, name) for name in named}
        assert (own["warmup"], own["restarts"], own["hidden"], own["passes"]) == (0, 0, 128, 10)


def test_raw_inputs_collapse_and_unit_rows_learn_on_mutag(monkeypatch):
    """The one finding of the study that a short test can repeat."""
    one = collapse.FitSettings("unit", "affinity", "adam", "mean", "batch", 1.9)
    pair = [one, one._replace(inputs="raw")]
    monkeypatch.setattr(collapse, "every_fit", lambda: iter(pair))
    found = collapse.states("MUTAG", 0)
    assert found == {pair[0].name: "alive", pair[1].name: "collapsed"}


def test_counts_and_page_sum_over_the_trainings(tmp_path):
    names = [fit.name for fit in collapse.every_fit()]
    for seed, state in enumerate(("alive", "collapsed", "alive")):
        path = tmp_path / COLLAPSE / "MUTAG" / f"seed-{seed}.json"
        write_json(path, {"states": dict.fromkeys(names, state)})
    counts, trainings = collapse.counts(tmp_path, "MUTAG")
    assert trainings == 3
    assert counts[names[0]] == Counter(alive=2, collapsed=1)
    (table,) = collapse.state_tables(tmp_path)
    page = table.markdown()
    assert page.count("2 / 0 / 1") == len(names)
    assert "At o = 1.5, 32 of 48 fits with unit inputs and 32 of 48 fits with raw inputs" in page
