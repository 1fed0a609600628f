"""
From a messy CSV to a graph
===========================

Survey tables rarely arrive clean. This one is the American National Election Study of 1996, as a European
spreadsheet would export it: semicolons, decimal commas, a nameless index, codes for missing answers.
"""

# %%
# Make the mess: statsmodels ships the table, and we export it the way spreadsheets do.
import tempfile
from pathlib import Path

import statsmodels.api as sm

import f2sl

survey = sm.datasets.anes96.load_pandas().data
survey["respondent"] = [f"R{number:04d}" for number in range(len(survey))]
survey["vote"] = survey["vote"].map({0: "Clinton", 1: "Dole"})
survey.loc[::17, "income"] = -99
survey.loc[::23, "TVnews"] = None
path = Path(tempfile.mkdtemp()) / "survey.csv"
survey.to_csv(path, sep=";", decimal=",", na_rep="N/A")
print(path.read_text()[:250])

# %%
# Check first
# -----------
# :func:`f2sl.check` reads the file as a learner would. It shows what becomes of each column and lists every
# problem at once. On the command line this is ``f2sl check survey.csv``.
print(f2sl.check(path))

# %%
# f2sl found the delimiter, the decimal commas and the missing values. It left out the index, and
# ``respondent``, which identifies rows. It reads ``income``, 24 brackets in ascending order, as a number.
# Three things are ours to decide:
#
# - ``respondent`` is an identifier indeed. To drop it ourselves silences the note.
# - ``-99`` means "no answer".
# - ``logpopul`` is computed from ``popul``, so each would hide the other's edges. We keep one.
#
# Learn
# -----
table = f2sl.open_table(path, drop=["respondent", "popul"], na=["-99"])
model = f2sl.learn(table, "f2sl-h")
print("\n".join(model.notes_))

# %%
# Arrows point downwards. Brown lines without an arrowhead may point either way, whichever end is drawn on
# top.
f2sl.plot(model)

# %%
# What can we trust? Ask for the evidence behind a single edge.
print(model.explain("PID", "vote", table))
