"""An analyst's way: a social network to embeddings, groups, similar people and missing links.

Replace the graphs of networkx by yours. Needs augcl[walks].
"""

import networkx as nx
import numpy as np
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score, roc_auc_score

import augcl

# Groups. The members of a karate club, which later split in two.
karate = nx.karate_club_graph()
truth = [karate.nodes[member].pop("club") for member in karate]
Z = augcl.Node2Vec(random_state=0).fit_transform(karate)
found = KMeans(2, n_init=10, random_state=0).fit_predict(Z)
print(f"karate club: adjusted Rand index {adjusted_rand_score(truth, found):.2f}")

# Similar people. The characters of Les Misérables, joined where they meet.
novel = nx.les_miserables_graph()
people = list(novel)
model = augcl.Node2Vec(random_state=0).fit(novel)
indices, _ = model.neighbors(novel, k=3)
print("nearest to Cosette:", ", ".join(people[i] for i in indices[people.index("Cosette")]))

# Missing links. A tenth of the edges is hidden before the training.
rng = np.random.default_rng(0)
number = {person: i for i, person in enumerate(people)}
edges = rng.permutation([(number[a], number[b]) for a, b in novel.edges])
hidden, kept = np.split(edges, [len(edges) // 10])
pairs = np.stack(np.triu_indices(len(people), 1), axis=1)
joined = {frozenset(edge) for edge in edges.tolist()}
strangers = rng.permutation([p for p in pairs.tolist() if frozenset(p) not in joined])

seen = novel.copy()
seen.remove_edges_from([(people[a], people[b]) for a, b in hidden])
Z = augcl.Node2Vec(random_state=0).fit_transform(seen)


def products(pairs):
    """One row per pair of people: the product of their embeddings, entry by entry."""
    return Z[pairs[:, 0]] * Z[pairs[:, 1]]


def with_strangers(edges, others):
    """Edges and as many pairs without an edge, and which is which."""
    others = others[: len(edges)]
    return products(np.concatenate([edges, others])), np.repeat([1, 0], len(edges))


classifier = LogisticRegression(max_iter=1000).fit(*with_strangers(kept, strangers[len(hidden) :]))
X, y = with_strangers(hidden, strangers)
score = roc_auc_score(y, classifier.predict_proba(X)[:, 1])
print(f"Les Misérables: {len(hidden)} hidden links, ROC-AUC {score:.2f}")
