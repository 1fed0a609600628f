"""
Knowledge in tiers
==================

Data alone rarely settle which way an edge points. Time often does. In Fair's survey of 6,366 marriages
(1978), age, education and faith come before the marriage, children come with it, and the rating of the
marriage comes last.
"""

# %%
import statsmodels.api as sm

import f2sl

survey = sm.datasets.fair.load_pandas().data
survey["affairs"] = (survey["affairs"] > 0).map({False: "no", True: "yes"})
table = f2sl.open_table(survey)

free = f2sl.learn(table, "f2sl-h")
print(len(free.graph_.directed_edges), "directed,", len(free.graph_.undirected_edges), "undecided")
f2sl.plot(free)

# %%
# Some of these arrows cannot be right: a woman's age does not depend on how many years she has been married.
# Say what you know, from the earliest tier to the latest. No edge leads back to an earlier tier.
known = f2sl.Knowledge(
    tiers=[
        ["age", "educ", "religious"],
        ["occupation", "occupation_husb", "yrs_married"],
        ["children"],
        ["rate_marriage", "affairs"],
    ]
)
model = f2sl.learn(table, "f2sl-h", knowledge=known)
f2sl.plot(model)

# %%
# Nothing in the graph contradicts it:
known.check(model.graph_)

# %%
# On the command line::
#
#     f2sl learn survey.csv --algorithm f2sl-h \
#         --tiers "age,educ,religious > occupation*,yrs_married > children > rate_marriage,affairs"
