"""Measure how often one added edge that keeps the true class misleads a graph classifier."""

import augcl
from augcl.attacks import Semantics, accuracy_under
from augcl.data.generators import component_sets


class NoHubs(Semantics):
    """Define which changes keep the class of your graphs: here, only edges at low-degree nodes."""

    def may_add(self, graphs, pairs):
        degree = graphs.adjacency.incoming.ptr.diff()
        return degree[pairs].amax(0) < 3


train, test = component_sets("15-20", per_class=100)
victim = augcl.Structure2VecClassifier(depth=2, epochs=20, lr=0.003, random_state=0).fit(train)
print(f"clean         {victim.score(test):.2f}")
print(f"at random     {accuracy_under(augcl.RandSampling(), victim, test):.2f}")
print(f"by gradient   {accuracy_under(augcl.GradArgmax(), victim, test):.2f}")
print(f"without hubs  {accuracy_under(augcl.GradArgmax(semantics=NoHubs()), victim, test):.2f}")
agent = augcl.RLS2V(updates=50, burn_in=10, random_state=0).fit(victim, train)
print(f"by an agent   {accuracy_under(agent, victim, test):.2f}")
