"""Embed and cluster the nodes of your own graph: here, three groups made with networkx."""

import networkx as nx
import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import augcl

truth = np.repeat([0, 1, 2], 40)
graph = nx.planted_partition_graph(3, 40, p_in=0.2, p_out=0.01, seed=0)
noise = np.random.default_rng(0).random((120, 20))
for node in graph:
    graph.nodes[node]["x"] = noise[node] + 0.5 * np.eye(3, 20)[truth[node]]
model = augcl.GRACE(hardness="augcl", epochs=60, width=32, activation="prelu", random_state=0)
Z = model.fit_transform(graph)
Z /= np.linalg.norm(Z, axis=1, keepdims=True)
found = KMeans(3, n_init=10, random_state=0).fit_predict(Z)
print("agreement with the truth:", adjusted_rand_score(truth, found))
