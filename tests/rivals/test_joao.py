import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from augcl import JOAO, JOAOv2
from augcl.rivals.joao import AUGMENTATIONS, IDENTITY, project_to_simplex
from quick_nodes import losses

QUICK = {"epochs": 4, "width": 8, "layers": 2, "batch_size": 16}


def quick(kind=JOAO, **options):
    return kind(**{**QUICK, **options})


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def started(molecules):
    """An untrained model whose parts can be called."""
    return lambda kind=JOAO, **options: quick(kind, **{**options, "epochs": 0}).fit(molecules)


def test_probabilities_are_shown_every_epoch_and_are_a_distribution(molecules):
    model = quick().fit(molecules)
    shown = [entry["augmentations"] for entry in model.history_]
    assert shown[0] == pytest.approx(dict.fromkeys(AUGMENTATIONS, 0.2))
    for p in shown:
        assert tuple(p) == AUGMENTATIONS
        assert min(p.values()) >= 0
        assert sum(p.values()) == pytest.approx(1)
    assert shown[-1] != shown[0]
    assert list(shown[-1].values()) == model.probabilities_.tolist()


@pytest.mark.parametrize(
    ("probabilities", "measured"),
    [
        ([0.2] * 5, [3.0] * 5),
        ([0.5, 0.1, 0.1, 0.1, 0.2], [0.3, 0.2, 0.1, 0.0, 0.4]),
        ([0.0, 0.0, 1.0, 0.0, 0.0], [5.0, -1.0, 0.0, 0.0, 0.0]),
    ],
)
def test_the_update_is_the_nearest_point_of_the_simplex(started, probabilities, measured):
    model = started(gamma=0.3)
    model.probabilities_ = torch.tensor(probabilities, dtype=torch.float64)
    model._losses = lambda *_: torch.tensor(measured, dtype=torch.float64)
    shown = model._before_epoch(1, [], generator())["augmentations"]
    b = [p + ell - 0.3 * (p - 0.2) for p, ell in zip(probabilities, measured, strict=True)]
    low, high = min(b) - 1, max(b)
    for _ in range(100):
        mu = (low + high) / 2
        low, high = (mu, high) if sum(max(v - mu, 0) for v in b) > 1 else (low, mu)
    assert list(shown.values()) == pytest.approx([max(v - mu, 0) for v in b], abs=1e-9)


def test_a_large_gamma_holds_the_probabilities_nearer_to_uniform(molecules):
    def spread(model):
        return float((model.probabilities_ - 0.2).abs().max())

    loose, tight = (quick(gamma=gamma).fit(molecules) for gamma in (0.0, 1.0))
    assert spread(tight) < spread(loose)


def test_losses_are_those_of_each_augmentation_alone(started, molecules):
    model = started()
    batches = [molecules.select(part) for part in torch.arange(40).split(4)]
    some = batches[: 10 // 5 + 1]
    found = model._losses(batches, generator())
    model.network_.train()
    again, expected = generator(), []
    for number in range(len(AUGMENTATIONS)):
        total = 0.0
        for batch in some:
            model.probabilities_ = torch.eye(5, dtype=torch.float64)[number]
            total += model._loss(batch, again).item() * len(batch)
        expected.append(total / 12)
    assert found.tolist() == pytest.approx(expected, rel=1e-5)
    assert found[IDENTITY] == found.min()


def test_measuring_leaves_the_running_averages_alone_unless_the_authors_do_it(started, molecules):
    for recipe, kept in (("default", True), ("authors", False)):
        model = started(recipe=recipe)
        before = model.network_.encoder.layers[0].norm.running_mean.clone()
        model._losses([molecules], generator())
        assert model.network_.encoder.layers[0].norm.running_mean.equal(before) == kept


def test_a_short_batch_counts_as_a_full_one_for_the_authors(started, molecules):
    batch = molecules.select(range(8))
    ours, theirs = (
        started(recipe=recipe, growth="walk", edge_features=False)._losses([batch], generator())
        for recipe in ("default", "authors")
    )
    assert theirs.allclose(ours * 8 / 16)


def test_views_follow_the_probabilities(started, mutag):
    model = started()
    share, sizes = model._share(mutag), mutag.node_ptr.diff()
    view, which = model._draw_views(torch.tensor([0.5, 0, 0, 0, 0.5]), share, generator())
    assert set(which.tolist()) == {0, IDENTITY}
    dropped = torch.where(which == 0, (sizes * 0.2).floor(), 0).long()
    assert view.node_ptr.diff().equal(sizes - dropped)
    view, _ = model._draw_views(torch.eye(5)[1], share, generator())
    entries = mutag.edge_ptr.diff()
    assert view.edge_ptr.diff().equal(entries - (entries * 0.2).floor().long())
    view, _ = model._draw_views(torch.eye(5)[2], share, generator())
    assert (view.node_ptr.diff() <= (sizes * 0.8).floor() + 1).all()
    assert view.node_ptr.diff().max() > 10  # a star has at most five
    view, _ = model._draw_views(torch.eye(5)[3], share, generator())
    masked = (view.x != mutag.x).any(1).sum()
    assert masked == (sizes * 0.2).floor().sum()


def test_the_anchor_is_augmented_where_the_paper_says_so(molecules):
    default, paper, explicit = (
        losses(quick(edge_features=False, **options).fit(molecules))
        for options in ({}, {"recipe": "paper"}, {"augment_anchor": True})
    )
    assert paper == explicit != default


# A head for every augmentation


def heads_used(model, batch, augmentation, monkeypatch):
    """The heads of anchors and of candidates when all graphs have one augmentation."""
    used = []
    project = type(model)._project
    monkeypatch.setattr(
        type(model),
        "_project",
        lambda self, g, which: used.append(which) or project(self, g, which),
    )
    model._pair_under(torch.eye(5)[augmentation], batch, generator())
    monkeypatch.undo()
    return [set(which.tolist()) for which in used]


def test_a_view_goes_through_the_head_of_its_augmentation(started, molecules, monkeypatch):
    model = started(JOAOv2)
    for number in range(5):
        assert heads_used(model, molecules, number, monkeypatch) == [{IDENTITY}, {number}]
    both = started(JOAOv2, augment_anchor=True)
    assert heads_used(both, molecules, 3, monkeypatch) == [{3}, {3}]


def test_the_authors_draw_one_head_an_epoch(started, molecules, monkeypatch):
    model = started(JOAOv2, recipe="authors")
    seen = set()
    for seed in range(20):
        model._before_epoch(0, [molecules], generator(seed))
        anchors, candidates = heads_used(model, molecules, 3, monkeypatch)
        assert anchors == {0}
        assert len(candidates) == 1
        seen |= candidates
    assert seen == set(range(5))
    measured = []
    monkeypatch.setattr(
        JOAOv2,
        "_losses",
        lambda self, *_: measured.append(self._head_of_the_epoch) or torch.zeros(5),
    )
    model._before_epoch(1, [molecules], generator())
    assert measured == [0]


def test_there_are_five_heads_and_recipes_differ(molecules):
    default, authors = (quick(JOAOv2, recipe=r).fit(molecules) for r in ("default", "authors"))
    assert len(default.network_.projector.heads) == 5
    assert losses(default) != losses(authors)
    assert np.isfinite(losses(default) + losses(authors)).all()


VECTORS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8)


def by_bisection(b):
    """max(b − μ, 0), where μ is halved in until the sum is 1."""
    low, high = min(b) - 1, max(b)
    for _ in range(200):
        mu = (low + high) / 2
        if sum(max(v - mu, 0) for v in b) > 1:
            low = mu
        else:
            high = mu
    return [max(v - high, 0) for v in b]


@given(VECTORS)
def test_the_result_is_a_distribution(b):
    p = project_to_simplex(torch.tensor(b, dtype=torch.float64))
    assert (p >= 0).all()
    assert p.sum().item() == pytest.approx(1, abs=1e-12)


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=8))
def test_it_is_the_point_that_bisection_finds(b):
    p = project_to_simplex(torch.tensor(b, dtype=torch.float64))
    assert p.tolist() == pytest.approx(by_bisection(b), abs=1e-9)


def test_nothing_on_the_simplex_is_nearer():
    generator = torch.Generator().manual_seed(0)
    b = torch.randn(5, dtype=torch.float64, generator=generator)
    others = torch.rand(2000, 5, dtype=torch.float64, generator=generator)
    others /= others.sum(1, keepdim=True)
    assert (project_to_simplex(b) - b).norm() <= (others - b).norm(dim=1).min()


def test_a_distribution_stays_as_it_is_and_equal_numbers_give_equal_parts():
    p = torch.tensor([0.1, 0.0, 0.6, 0.3], dtype=torch.float64)
    assert project_to_simplex(p).allclose(p)
    assert project_to_simplex(torch.full((5,), 7.0)).tolist() == pytest.approx([0.2] * 5)


def test_defaults_of_joao_and_joaov2_are_pinned():
    for kind, epochs, lr in ((JOAO, 20, 0.01), (JOAOv2, 40, 0.001)):
        found = kind().get_params(deep=False)
        pinned = {"epochs": epochs, "lr": lr, "gamma": 0.1, "ratio": 0.2, "tau": 0.2, "width": 32}
        assert {name: found[name] for name in pinned} == pinned
