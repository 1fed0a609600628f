"""
Bootstrap confidence
====================

How sure is an edge? Learn from 100 resampled tables and count how often it comes back. The table is again
the American National Election Study of 1996, with its numbers cut into four intervals each.
"""

# %%
import statsmodels.api as sm

import f2sl

survey = sm.datasets.anes96.load_pandas().data.drop(columns="popul")
table = f2sl.open_table(survey, bins=4)
found = f2sl.bootstrap(table, f2sl.F2SLh(), replicates=100, random_state=0)
found.to_frame().head(8)

# %%
# Thick lines are confident. The averaged graph keeps the edges above a threshold that is estimated from the
# confidences.
f2sl.plot(found)

# %%
# How often are party and vote adjacent, and how often do the data decide on an arrow from vote to party?
print(found.of("PID", "vote"), found.of("vote", "PID", directed=True))

# %%
# The edge is certain, the arrow is not: nearly half of the replicates leave it open. It also points against
# common sense, since few people choose a party because of how they voted. Arrows depend on what a table
# leaves out, so treat this one as undecided.

# %%
# Keep only what nearly every replicate shows.
f2sl.plot(found.at(0.95))

# %%
# A confidence says how stable an edge is when the rows change. It is not the probability that the edge is
# causal: an unmeasured common cause gives an edge that every replicate shows.
