"""A chemist's way: SMILES to embeddings, similar molecules, and a property of new scaffolds.

Replace `smiles` by your molecules and `logp` by your measurements: the values here are computed, as
sums over atoms, which is easier than a measured property. Needs augcl[molecules].
"""

from itertools import combinations

import numpy as np
from rdkit import Chem
from rdkit.Chem.Crippen import MolLogP

import augcl

scaffolds = [
    "c1ccc({a})c({b})c1",  # benzene
    "c1cc({a})nc({b})c1",  # pyridine
    "c1cc({a})oc1{b}",  # furan
    "c1cc({a})sc1{b}",  # thiophene
    "c1ccc2c({a})c({b})ccc2c1",  # naphthalene
    "c1ccc2c(c1)c({a})c({b})[nH]2",  # indole
    "C1CCC({a})C({b})C1",  # cyclohexane
    "C1CC({a})CN({b})C1",  # piperidine
    "C1CC({a})C({b})C1",  # cyclopentane
    "O1CCN({b})CC1{a}",  # morpholine
]
groups = ["C", "CCC", "C(C)C", "CO", "CCN", "CCl", "C(=O)O", "C(F)(F)F"]
smiles = [s.format(a=a, b=b) for s in scaffolds for a, b in combinations(groups, 2)]
logp = np.array([MolLogP(Chem.MolFromSmiles(text)) for text in smiles])

molecules = augcl.from_smiles(smiles, y=logp)
# As `augcl train` does: what is learned beside counts of substructures, which need no training.
model = augcl.Beside(augcl.GraphCL(epochs=40, random_state=0), augcl.WLFeatures()).fit(molecules)

indices, similarity = model.neighbors(molecules, k=3)
print(f"nearest to {smiles[0]}:")
for i, cosine in zip(indices[0], similarity[0], strict=True):
    print(f"  {cosine:.3f}  logP {logp[i]:5.2f}  {smiles[i]}")

# All molecules of a scaffold are in the training part or in the test part, never in both.
scaffold = augcl.scaffold_groups(smiles)
for method in (model, augcl.MorganFingerprints().fit(molecules)):
    score = augcl.evaluate(method.transform(molecules), logp, groups=scaffold, repeats=1)
    print(f"{type(method).__name__}: R² on new scaffolds {score.mean:.2f}, floor {score.floor:.2f}")
