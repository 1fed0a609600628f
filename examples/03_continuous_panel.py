"""
A continuous panel
==================

Thirteen chemical measurements of 178 Italian wines. All columns are continuous, so f2sl treats them as
jointly Gaussian: Fisher's z tests and the Gaussian BIC take the place of discrete tests and scores.
"""

# %%
from sklearn.datasets import load_wine

import f2sl

wines = load_wine(as_frame=True).data
model = f2sl.learn(wines, "f2sl-h")
f2sl.plot(model)

# %%
# Every edge has a strength: here r², the share of variance that the two variables have in common. The
# strongest five:
model.graph_.to_frame().sort_values("weight", ascending=False).head(5)

# %%
# Does it depend on the learner? Two learners with nothing in common but the data: PC-stable uses
# independence tests alone, F2SL-h searches for the best score.
other = f2sl.learn(wines, "pc-stable")


def edges(graph):
    return {frozenset(edge) for edge in [*graph.directed_edges, *graph.undirected_edges]}


by_score, by_tests = edges(model.graph_), edges(other.graph_)
print(f"{len(by_score)} edges by f2sl-h, {len(by_tests)} by pc-stable, {len(by_score & by_tests)} by both")

# %%
# Where both agree there is more reason to believe in an edge.
f2sl.plot(model, truth=other)
