"""Use AUGCL in your own training loop: the two lines that change are marked."""

import torch
from torch_geometric.nn import GIN, global_add_pool

import augcl
from augcl.training.batches import fixed_batches
from augcl.views import named_view

generator = torch.Generator().manual_seed(0)
graphs = augcl.load("MUTAG")
batches = fixed_batches(graphs, 128, generator)
view = named_view("random2")
encoder = GIN(graphs.num_features, 32, num_layers=3)
optimizer = torch.optim.Adam(encoder.parameters(), lr=0.01)
hardness = None


def embed(batch):
    return global_add_pool(encoder(batch.x, batch.edge_index), batch.graph_of_node)


for epoch in range(10):
    if epoch == 5:
        with torch.no_grad():
            pairs = [(embed(batch), embed(view(batch, generator))) for batch in batches]
        hardness = augcl.AffinityUncertainty().fit(pairs)  # first line
    for batch in batches:
        z1, z2 = embed(batch), embed(view(batch, generator))
        loss = augcl.info_nce(z1, z2, tau=0.2, hardness=hardness)  # second line
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch + 1}: loss {loss.item():.3f}")

print("weights:", hardness.vitals_)
