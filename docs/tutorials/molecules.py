# %% [markdown]
# # Molecules end to end
#
# From SMILES to embeddings, similar molecules, a property and a map. Replace `smiles` by your
# molecules and `logp` by your measurements. Needs `augcl[molecules,paper]`.

# %%
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
from rdkit import Chem
from rdkit.Chem.Crippen import MolLogP
from sklearn.decomposition import PCA

import augcl

scaffolds = {
    "benzene": "c1ccc({a})c({b})c1",
    "pyridine": "c1cc({a})nc({b})c1",
    "furan": "c1cc({a})oc1{b}",
    "thiophene": "c1cc({a})sc1{b}",
    "naphthalene": "c1ccc2c({a})c({b})ccc2c1",
    "indole": "c1ccc2c(c1)c({a})c({b})[nH]2",
    "cyclohexane": "C1CCC({a})C({b})C1",
    "piperidine": "C1CC({a})CN({b})C1",
    "cyclopentane": "C1CC({a})C({b})C1",
    "morpholine": "O1CCN({b})CC1{a}",
}
groups = ["C", "CCC", "C(C)C", "CO", "CCN", "CCl", "C(=O)O", "C(F)(F)F"]
pairs = list(combinations(groups, 2))
smiles = [text.format(a=a, b=b) for text in scaffolds.values() for a, b in pairs]
ring = np.repeat(list(scaffolds), len(pairs))
logp = np.array([MolLogP(Chem.MolFromSmiles(text)) for text in smiles])
print(len(smiles), "molecules, such as", smiles[0])

# %% [markdown]
# ## SMILES become graphs
#
# Atoms are nodes, bonds are edges, and both have features. Nothing is dropped in silence: a line
# that RDKit refuses is an error that names it.

# %%
molecules = augcl.from_smiles(smiles, y=logp)
print(molecules)
print(molecules.columns[:8])

# %% [markdown]
# ## Graphs become embeddings
#
# No label is used here. Ten epochs are few; take more for your data.

# %%
model = augcl.GraphCL(epochs=10, random_state=0, progress=False).fit(molecules)
Z = model.transform(molecules)
print(Z.shape, "loss of the last epoch:", round(model.history_[-1]["loss"], 2))

# %% [markdown]
# ## Similar molecules

# %%
indices, cosines = model.neighbors(molecules, k=4)
print("nearest to", smiles[0])
for i, cosine in zip(indices[0], cosines[0], strict=True):
    print(f"  {cosine:.3f}  {ring[i]:<12} {smiles[i]}")
same = np.mean(ring[indices] == ring[:, None])
print(f"{same:.0%} of all neighbours have the ring of their molecule; by chance it would be 10 %")
assert same > 0.3

# %% [markdown]
# ## Do the embeddings know a property?
#
# All molecules of a scaffold are in the training part or in the test part, never in both. Beside
# the learned embedding stands the floor that every chemist knows: Morgan fingerprints, which need
# no training.

# %%
scaffold = augcl.scaffold_groups(smiles)
floor = augcl.MorganFingerprints().fit_transform(molecules)
for name, embedded in {"GraphCL": Z, "Morgan": floor}.items():
    score = augcl.evaluate(embedded, logp, groups=scaffold, repeats=1, progress=False)
    print(f"{name:<8} R² on new scaffolds {score.mean:.2f}, the mean alone {score.floor:.2f}")

# %% [markdown]
# ## A map
#
# The first two principal components. Colours are the rings, which no training has seen.

# %%
plane = PCA(2).fit_transform(Z / np.linalg.norm(Z, axis=1, keepdims=True))
figure, axes = plt.subplots(figsize=(6, 4))
for name in scaffolds:
    axes.scatter(*plane[ring == name].T, s=14, label=name)
axes.legend(fontsize=7)
axes.set(xlabel="first component", ylabel="second component")
plt.show()

# %% [markdown]
# Your turn: put `hardness="augcl"` into `GraphCL`, and compare both rows of the property again.
# Is the difference larger than the spread between seeds (`random_state=1, 2, …`)?
