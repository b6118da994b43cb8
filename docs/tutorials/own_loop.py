# %% [markdown]
# # Hardness in your own PyTorch loop
#
# Watch the weights of AUGCL live, break them, and repair them.

# %%
import warnings

import matplotlib.pyplot as plt
import torch
from torch_geometric.nn import GIN, global_add_pool

import augcl
from augcl.hardness import CollapseWarning
from augcl.training.batches import fixed_batches
from augcl.views import named_view

graphs = augcl.load("MUTAG")
view = named_view("random2")


def embed(encoder, batch):
    return global_add_pool(encoder(batch.x, batch.edge_index), batch.graph_of_node)


# %% [markdown]
# ## A loop
#
# Nothing here belongs to augcl but two lines: `fit` after a warm-up, and `info_nce` with the
# hardness. After each epoch we keep the spread of the weights.


# %%
def train(hardness, epochs=12, start=6):
    generator = torch.Generator().manual_seed(0)
    torch.manual_seed(0)  # the layers of PyG draw from the global generator
    batches = fixed_batches(graphs, 128, generator)
    encoder = GIN(graphs.num_features, 32, num_layers=3)
    optimizer = torch.optim.Adam(encoder.parameters(), lr=0.01)
    losses, spreads = [], []
    for epoch in range(epochs):
        if epoch == start:
            with torch.no_grad():
                pairs = [(embed(encoder, b), embed(encoder, view(b, generator))) for b in batches]
            hardness.fit(pairs)  # first line
        for batch in batches:
            z1, z2 = embed(encoder, batch), embed(encoder, view(batch, generator))
            used = hardness if epoch >= start else None
            loss = augcl.info_nce(z1, z2, tau=0.2, hardness=used)  # second line
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
        spreads.append(float(hardness.weights(z1, z2).std()) if used else 0.0)
    return losses, spreads, (z1.detach(), z2.detach())


alive = augcl.AffinityUncertainty()
losses, spreads, (z1, z2) = train(alive)
print(alive.vitals_)
for epoch in (4, 5, 6, 7, 11):
    print(f"epoch {epoch + 1:>2}: loss {losses[epoch]:.3f}, spread {spreads[epoch]:.2f}")
assert spreads[-1] > 0.05

# %% [markdown]
# The weights come in at epoch 7, and the loss changes with them: a part of such a step is the new
# loss function, not learning.
#
# ## One anchor
#
# Affinity across, weight up. Candidates of which the model is sure count little, those between
# the groups much.

# %%
affinity = torch.nn.functional.cosine_similarity(z1[:1], z2)
weights = alive.weights(z1, z2)[0]
figure, axes = plt.subplots(figsize=(6, 3))
axes.scatter(affinity, weights, s=12)
axes.set(xlabel="affinity to anchor 0", ylabel="weight")
figure.tight_layout()
plt.show()

# %% [markdown]
# ## Break them
#
# Take the settings of the released code (`recipe="authors"`): inputs of any length and SGD. The
# model answers "I don't know" for all pairs, and all weights become equal. The library warns.

# %%
broken = augcl.AffinityUncertainty.from_recipe("authors")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always", CollapseWarning)
    _, flat, _ = train(broken)
print(*(warning.message for warning in caught), sep="\n")
print("spread of the weights:", round(flat[-1], 3))
print(broken.vitals_)
assert flat[-1] < spreads[-1]

# %% [markdown]
# ## Repair them
#
# Unit length for the inputs, and an optimiser that moves: two settings.

# %%
better = {"recipe": "default", "normalize": True, "optimizer": "adam", "lr": 0.01}
repaired = augcl.AffinityUncertainty(**broken.get_params() | better)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", CollapseWarning)
    _, lively, _ = train(repaired)
print("spread of the weights:", round(lively[-1], 3))
print(repaired.vitals_)
assert lively[-1] > flat[-1]

# %% [markdown]
# A spread above zero says that the weights differ, not that they help. `augcl compare
# --hardness-study` answers that on your data, between floor and oracle.
