# %% [markdown]
# # Reproduce a row of the paper and read the evidence
#
# One row of the paper's table, GraphCL with AUGCL on MUTAG, and its base. Two seeds here; five in
# [Results](../RESULTS.md).

# %%
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from augcl.evaluation import paired_difference
from augcl.paper.published import accuracy

out = Path(tempfile.mkdtemp())
command = (
    f"{sys.executable} -m augcl reproduce graph-classification --datasets MUTAG --seeds 2 "
    f"--methods GraphCL,AUGCL --jobs 1 --out {out}"
)
done = subprocess.run(command.split(), capture_output=True, text=True)
assert done.returncode == 0, done.stderr
print((out / "graph-classification.md").read_text())

# %% [markdown]
# ## What is a cell?
#
# Each training is one small file with all its settings, its seed, the accuracy of every fold, and
# the state of the uncertainty model. A changed setting is another cell, so that numbers of
# different settings cannot be mixed up.

# %%
rows = {"GraphCL": [], "AUGCL": []}
for path in sorted((out / "cells").rglob("seed-*.json")):
    cell = json.loads(path.read_text())
    rows["AUGCL" if cell["spec"]["hardness"] == "augcl" else "GraphCL"].append(cell)
example = rows["AUGCL"][0]
for key in ("seed", "data", "accuracy", "collapse", "seconds", "versions"):
    print(f"{key:<9} {example[key]}")

# %% [markdown]
# ## The number, and the published one

# %%
mean, std = accuracy("graph_classification", "GraphCL_AUGCL", "MUTAG")
print("ours:     ", *(f"{100 * cell['accuracy']['mean']:.2f}" for cell in rows["AUGCL"]))
print(f"published: {mean} ± {std}")

# %% [markdown]
# ## Is the difference noise?
#
# The accuracies of the folds, of both rows, in the same order. Folds share most of their training
# samples: the plain t-test would be too sure, so the corrected one is used.

# %%
folds = {name: np.array([c["accuracy"]["folds"] for c in cells]) for name, cells in rows.items()}
corrected = paired_difference(folds["AUGCL"], folds["GraphCL"], test_to_train=1 / 9)
plain = paired_difference(folds["AUGCL"], folds["GraphCL"], test_to_train=0)
print("corrected: AUGCL − GraphCL", corrected)
print("plain:     AUGCL − GraphCL", plain)
assert corrected.high - corrected.low > plain.high - plain.low

# %% [markdown]
# If the corrected interval contains 0, the honest sentence is: *no difference was shown*. Not:
# there is none.
#
# ## Was AUGCL alive?
#
# A collapsed model would make AUGCL equal to its base, and the row would be no evidence at all.

# %%
for cell in rows["AUGCL"]:
    weights = cell["weights"]
    print(
        f"seed {cell['seed']}: spread {weights['fit_weight_std']:.2f}, agreement "
        f"with the partition {weights['fit_agreement']:.0%}, collapse: {cell['collapse']}"
    )

# %% [markdown]
# Next: the same command without `--methods` computes every system of the paper, and the [table of
# readings](../results/readings.md) shows what other readings of the paper give.
