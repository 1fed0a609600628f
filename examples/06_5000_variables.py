"""
5,000 variables
===============

Genes, sensors, survey items: wide tables are what F2SL was made for. It measures all pairs of variables
once, with bit operations, and keeps only the pairs above its threshold.
"""

# %%
# We need a table whose truth is known: 135 copies of the ALARM network, joined at random, 1,000 rows.
import time

import f2sl

network = f2sl.tile(f2sl.load_network("alarm"), 135, random_state=1)
table = f2sl.open_table(network.sample(1000, random_state=1))
print(table)

# %%
# 12.5 million pairs. A first fit compiles the inner loops for this machine, so we time the second.
learner = f2sl.F2SLc()
learner.fit(table)
started = time.perf_counter()
learner.fit(table)
print(f"{time.perf_counter() - started:.1f} seconds")
learner.graph_

# %%
# How close is it to the truth? First edges, then arrowheads.
result = f2sl.compare(network, learner)
print(f"F1 of edges {result.adjacency_f1:.2f}, F1 of arrowheads {result.arrowhead_f1:.2f}")

# %%
# 5,000 variables are too many for one picture. Look around one of them.
centre = max(learner.pc_, key=lambda name: len(learner.pc_[name]))
f2sl.plot(learner, around=centre, depth=2, highlight=[centre])

# %%
# ``learner.show("page.html")`` writes a page to search and explore the whole graph in a browser, offline.
