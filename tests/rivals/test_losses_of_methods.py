"""The loss of whole methods against dense twins: plain matrices in double precision, no tiles.

Each twin starts from the weights of a trained network and from what the generator draws (views,
shuffles, hidden nodes), and writes the rest down as the paper does.
"""

from copy import deepcopy

import pytest
import torch
from torch import log1p, sigmoid

from augcl import BGRL, CCASSG, DGI, GAE, HSAN, JOAO, MVGRL, VGAE, GraphMAE, MVGRLGraphs
from augcl.rivals import graphmae
from augcl.rivals.graphmae import draw_hidden

NODES = 90


def seeded():
    return torch.Generator().manual_seed(5)


def fitted(kind, graph, **options):
    """Return a trained model, its batch, the weights by name, features and Â in double."""
    usual = {"epochs": 12, "lr": 0.01, "progress": False}
    model = kind(**{**usual, **options}).fit(graph)
    disturb(model.network_)
    (batch,) = model._batches(model.read(graph), seeded())
    weights = {name: part.detach().double() for name, part in model.network_.state_dict().items()}
    return model, batch, weights, dense(batch.graph.x), mixing(batch.graph.edge_index)


@torch.no_grad()
def disturb(network):
    """Move every parameter, so that biases, slopes and shares count: many still are as at first."""
    network.train()
    for part in network.parameters():
        part += 0.3 * torch.randn(part.shape, generator=seeded())


def dense(x):
    return (x.to_dense() if x.layout != torch.strided else x).double()


def mixing(edge_index, nodes=NODES):
    """D̂^-½ (A + I) D̂^-½, where D̂ counts what comes in."""
    loops = torch.eye(nodes, dtype=torch.float64)
    loops[edge_index[1], edge_index[0]] = 1
    root = loops.sum(1).rsqrt()
    return root[:, None] * loops * root


def prelu(h, slope):
    return torch.where(h > 0, h, slope * h)


def sp(t):
    return log1p(torch.exp(t))


def agrees(found, expected):
    assert found.item() == pytest.approx(expected.item(), rel=1e-5)


def test_dgi_tells_true_from_shuffled_nodes_by_the_summary_of_the_true_ones(graph):
    model, batch, w, x, P = fitted(DGI, graph, width=8)

    def encoder(features):
        mixed = P @ features @ w["encoder.weight"] + w["encoder.bias"]
        return prelu(mixed, w["encoder.activation.weight"])

    true, false = encoder(x), encoder(x[torch.randperm(NODES, generator=seeded())])
    summary = w["discriminator.weight"] @ sigmoid(true.mean(0))
    t, f = (h @ summary + w["discriminator.bias"] for h in (true, false))
    agrees(model._loss(batch, seeded()), torch.cat([sp(-t), sp(f)]).mean())


@pytest.mark.parametrize("kind", [GAE, VGAE])
def test_autoencoders_predict_all_pairs_and_vgae_adds_its_divergence(graph, kind):
    model, batch, w, x, P = fitted(kind, graph, hidden=8, width=4)
    hidden = (P @ x @ w["first.weight"]).clamp_min(0)
    z = mean = P @ hidden @ w["mean.weight"]
    divergence = torch.zeros(())
    if kind is VGAE:
        log_std = P @ hidden @ w["log_std.weight"]
        noise = torch.randn(mean.shape, generator=seeded()).double()
        z = mean + noise * log_std.exp()
        terms = (mean**2 + (2 * log_std).exp() - 1) / 2 - log_std
        divergence = terms.sum() / NODES / NODES
        assert divergence > 1e-3
    target = torch.eye(NODES, dtype=torch.float64)
    target[tuple(graph.edge_index)] = 1
    ones = graph.num_edges  # published: the loops are targets, but do not count here
    zeros = NODES**2 - ones
    entropy = zeros / ones * target * sp(-z @ z.T) + (1 - target) * sp(z @ z.T)
    expected = NODES**2 / (2 * zeros) * entropy.mean() + divergence
    agrees(model._loss(batch, seeded()), expected)


@pytest.mark.parametrize(("window", "windows"), [(2000, 1), (30, 3)])
@pytest.mark.parametrize("loops", [1, 2])
def test_mvgrl_scores_each_view_by_the_summary_of_the_other(graph, window, windows, loops):
    options = {"strongest": NODES, "window": window, "windows": windows, "loops": loops}
    model, batch, w, x, P = fitted(MVGRL, graph, width=8, alpha=0.3, **options)
    eye = torch.eye(NODES, dtype=torch.float64)
    A = loops * eye
    A[tuple(graph.edge_index)] = 1
    near = A.sum(1)[:, None].rsqrt() * A * A.sum(1).rsqrt()
    matrices = {"near": near, "far": 0.3 * torch.linalg.inv(eye - 0.7 * P)}
    generator, size, scores = seeded(), min(window, NODES), ([], [])
    for first in torch.randint(NODES - size + 1, (windows,), generator=generator).tolist():
        inside, order = slice(first, first + size), torch.randperm(size, generator=generator)
        true, false = {}, {}
        for view, M in matrices.items():
            for found, rows in ((true, x[inside]), (false, x[inside][order])):
                mixed = M[inside, inside] @ rows @ w[f"{view}.weight"] + w[f"{view}.bias"]
                found[view] = prelu(mixed, w[f"{view}.activation.weight"])
        for view, other in (("near", "far"), ("far", "near")):
            summary = w["discriminator.weight"] @ sigmoid(true[other].mean(0))
            for found, h in zip(scores, (true, false), strict=True):
                found.append(h[view] @ summary + w["discriminator.bias"])
    expected = (sp(-torch.cat(scores[0])).mean() + sp(torch.cat(scores[1])).mean()) / 2
    agrees(model._loss(batch, seeded()), expected)


@pytest.mark.parametrize("pooling", ["sum", "mean"])
def test_mvgrl_of_graphs_scores_the_nodes_of_both_views_by_the_graphs_of_the_other(
    molecules, pooling
):
    options = {"width": 6, "layers": 2, "alpha": 0.3, "steps": 40, "pooling": pooling}
    model = MVGRLGraphs(epochs=3, progress=False, **options).fit(molecules)
    disturb(model.network_)
    net = deepcopy(model.network_).double()
    P = mixing(molecules.edge_index, molecules.num_nodes)
    S = 0.3 * torch.linalg.inv(torch.eye(len(P), dtype=torch.float64) - 0.7 * P)
    own = torch.zeros(len(P), len(molecules), dtype=torch.float64)
    own[range(len(P)), molecules.graph_of_node] = 1
    pool = own / own.sum(0) if pooling == "mean" else own
    nodes, graphs = [], []
    for M, layers in ((P, net.of_edges.layers), (S, net.of_diffusion.layers)):
        outputs = [dense(molecules.x)]
        for layer in layers:
            mixed = M @ outputs[-1] @ layer.linear.weight.T + layer.linear.bias
            outputs.append(prelu(mixed, layer.activation.weight))
        nodes.append(net.of_nodes(outputs[-1]))
        graphs.append(net.of_graphs(torch.cat([pool.T @ h for h in outputs[1:]], dim=1)))
    parts = []
    for scores in (nodes[0] @ graphs[1].T, nodes[1] @ graphs[0].T):
        log_2 = torch.tensor(2.0, dtype=torch.float64).log()
        positive = ((log_2 - sp(-scores)) * own).sum() / own.sum()
        negative = ((torch.nn.functional.softplus(scores) - log_2) * (1 - own)).sum()
        parts.append(negative / (1 - own).sum() - positive)
    assert parts[0].item() != pytest.approx(parts[1].item(), rel=1e-2)
    agrees(model._loss(molecules, seeded()), parts[0] + parts[1])


VIEWS = {"edge_drop": (0.4, 0.2), "feature_drop": (0.1, 0.3)}


def views_of(model, batch):
    """The matrix and the features of both views that the generator draws."""
    for view in model._two_views(batch).draw(seeded()):
        yield mixing(view.edge_index), dense(view.x())


def test_ccassg_correlates_two_views_and_takes_apart_their_columns(graph):
    options = {"width": 5, "layers": 2, "decorrelation": 0.3}
    model, batch, w, *_ = fitted(CCASSG, graph, **VIEWS, **options)
    standard, redundant = [], 0.0
    for P, x in views_of(model, batch):
        h = (P @ x @ w["layers.0.weight"] + w["layers.0.bias"]).clamp_min(0)
        h = P @ h @ w["layers.1.weight"] + w["layers.1.bias"]
        z = (h - h.mean(0)) / h.std(0)
        standard.append(z)
        redundant = redundant + ((torch.eye(5) - z.T @ z / NODES) ** 2).sum()
    agreement = (standard[0] * standard[1]).sum() / NODES
    agrees(model._loss(batch, seeded()), 0.3 * redundant - agreement)


def test_bgrl_predicts_the_target_of_the_other_view(graph):
    model, batch, w, *_ = fitted(BGRL, graph, width=4, predictor=6, momentum=0.5, **VIEWS)

    def encoder(name, P, x):
        for number, layer in enumerate(("first", "second")):
            x = P @ x @ w[f"{name}.{layer}.weight"].T
            x = (x - x.mean(0)) / (x.var(0, correction=0) + 1e-5).sqrt()
            after = f"{name}.after.{number}"
            x = prelu(x * w[f"{after}.0.weight"] + w[f"{after}.0.bias"], w[f"{after}.1.weight"])
        return x

    predicted, targets = [], []
    for P, x in views_of(model, batch):
        h = encoder("online", P, x) @ w["predictor.0.weight"].T + w["predictor.0.bias"]
        h = prelu(h, w["predictor.1.weight"])
        predicted.append(h @ w["predictor.2.weight"].T + w["predictor.2.bias"])
        targets.append(encoder("target", P, x))
    cosines = [
        torch.nn.functional.cosine_similarity(p, t).mean()
        for p, t in zip(predicted, reversed(targets), strict=True)
    ]
    agrees(model._first_loss(batch, seeded()), 2 - cosines[0] - cosines[1])


def test_graphmae_reconstructs_hidden_nodes_from_the_others(graph, monkeypatch):
    for name in ("FEATURE_DROPOUT", "ATTENTION_DROPOUT"):
        monkeypatch.setattr(graphmae, name, 0.0)
    options = {"width": 6, "heads": 2, "layers": 2, "hidden": 0.4, "replaced": 0.2, "gamma": 3}
    model, batch, w, x, P = fitted(GraphMAE, graph, **options)
    linked = P > 0

    def attention(h, name, heads):
        parts = []
        values = (h @ w[f"{name}.weight"]).chunk(heads, dim=1)
        for head, value in enumerate(values):
            of_source, of_target = (
                value @ w[f"{name}.of_{end}"][0, head] for end in ("source", "target")
            )
            logits = of_source[None, :] + of_target[:, None]
            logits = torch.where(logits > 0, logits, 0.2 * logits)
            shares = torch.softmax(logits.masked_fill(~linked, -torch.inf), dim=1)
            parts.append(shares @ value)
        return torch.cat(parts, dim=1) + w[f"{name}.bias"]

    hidden = draw_hidden(NODES, 0.4, 0.2, seeded(), x.device)
    h = x.clone()
    h[hidden.nodes] = w["token"]
    h[hidden.replaced] = x[hidden.donors]
    for layer in range(2):
        slope = w[f"encoder.activations.{layer}.weight"]
        h = prelu(attention(h, f"encoder.layers.{layer}", 2), slope)
    h = h @ w["bridge"]
    h[hidden.nodes] = 0
    h = attention(h, "decoder.layer", 1)[hidden.nodes]
    cosine = torch.nn.functional.cosine_similarity(h, x[hidden.nodes])
    agrees(model._loss(batch, seeded()), ((1 - cosine) ** 3).mean())


@pytest.mark.parametrize("symmetric", [False, True])
def test_joao_contrasts_anchors_and_views_without_the_positive_in_the_denominator(
    molecules, symmetric
):
    model = JOAO(epochs=2, progress=False, tau=0.3, symmetric=symmetric, lr=0.001).fit(molecules)
    disturb(model.network_)
    anchors, views = (part.detach().double() for part in model._pair(molecules, seeded()))
    cosine = torch.nn.functional.cosine_similarity(anchors[:, None], views[None], dim=2) / 0.3

    def one_way(s):
        others = s.masked_fill(torch.eye(len(s), dtype=torch.bool), -torch.inf)
        return (others.exp().sum(1).log() - s.diagonal()).mean()

    expected = (one_way(cosine) + one_way(cosine.T)) / 2 if symmetric else one_way(cosine)
    agrees(model._loss(molecules, seeded()), expected)


def test_hsan_contrasts_all_entries_with_their_weights(graph):
    options = {"width": 5, "components": 6, "filter_steps": 2, "activation": "sigmoid"}
    model, batch, w, x, P = fitted(HSAN, graph, clusters=3, confident=0.7, beta=2, **options)
    centred = x - x.mean(0)
    axes = torch.linalg.svd(centred, full_matrices=False).Vh[:6].T
    axes = axes * (model._smooth.axes["axes"].double() * axes).sum(0).sign()
    smooth = P @ P @ centred @ axes
    A = (P > 0).double() - torch.eye(NODES)
    z, e = [], []
    for view in range(2):
        of = {part: (w[f"{part}.{view}.weight"].T, w[f"{part}.{view}.bias"]) for part in PARTS}
        z.append(sigmoid(smooth @ of["attributes"][0] + of["attributes"][1]))
        e.append(A @ of["structure"][0] + of["structure"][1])
    z, e = (torch.nn.functional.normalize(torch.cat(part)) for part in (z, e))
    S = (w["share"] * z @ z.T + (1 - w["share"]) * e @ e.T) * model.weights_.double() / 255
    assert len(model.weights_.unique()) > 10
    partner = torch.arange(2 * NODES).roll(NODES)
    mass = S.exp().fill_diagonal_(0).sum(1).log()
    expected = (mass - S[range(2 * NODES), partner]).mean()
    agrees(model._loss(batch, seeded()), expected)


PARTS = ("attributes", "structure")
