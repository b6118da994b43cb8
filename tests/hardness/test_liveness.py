"""The uncertainty model lives on every data set of the paper, for every reward of its grid."""

import pytest
import torch

from augcl import AffinityUncertainty, load
from augcl.methods.contrast import EmbeddedBatches
from augcl.runs.run import Spec
from augcl.training.batches import batch_statistics, fixed_batches

NAMES = ("MUTAG", "PROTEINS", "IMDB-BINARY", "NCI1", "DD", "REDDIT-BINARY", "COLLAB")


@pytest.mark.parametrize("name", NAMES)
def test_the_weights_are_alive(name, tu_dir):
    generator = torch.Generator().manual_seed(0)
    graphs = load(name, data_dir=tu_dir)
    some = graphs.select(range(0, len(graphs), max(1, len(graphs) // 160)))
    spec = Spec(name, hardness="none", epochs=4)
    model = spec.estimator(graphs, 0, progress=False).fit(some)
    batches = fixed_batches(some, 128, generator)
    with batch_statistics(model.network_):
        pairs = list(EmbeddedBatches(model._pair, batches, generator))
    for reward in (1.5, 1.6, 1.7, 1.8, 1.9):
        found = AffinityUncertainty(reward=reward).fit(pairs, generator=generator).vitals_
        assert found.alive
        assert found.weight_std > 0.1
        assert found.agreement > found.majority
