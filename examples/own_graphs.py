"""Embed and cluster your own graphs: here, rings and trees made with networkx."""

import networkx as nx
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import augcl

rings = [nx.cycle_graph(n) for n in range(10, 40)]
trees = [nx.random_labeled_tree(n, seed=n) for n in range(10, 40)]
model = augcl.GraphCL(
    hardness="augcl", epochs=10, pooling="mean", augmentation="random3", random_state=0
)
Z = model.fit_transform(rings + trees)
found = KMeans(2, n_init=10, random_state=0).fit_predict(Z)
print("agreement with the truth:", adjusted_rand_score([0] * 30 + [1] * 30, found))
