"""
Mixed medical data
==================

The diabetes study of Efron and others (2004) has 442 patients: age, sex, body mass index, blood pressure,
six blood tests, and the progression of the disease a year later. Sex is a category, everything else is a
number. f2sl learns from both together.
"""

# %%
from sklearn.datasets import load_diabetes

import f2sl

patients = load_diabetes(as_frame=True, scaled=False).frame
patients = patients.rename(
    columns={
        "bp": "blood pressure",
        "s1": "cholesterol",
        "s2": "LDL",
        "s3": "HDL",
        "s4": "cholesterol / HDL",
        "s5": "triglycerides",
        "s6": "glucose",
        "target": "progression",
    }
)
patients["sex"] = patients["sex"].map({1.0: "female", 2.0: "male"})
table = f2sl.open_table(patients)
print(table)
print("\n".join(table.notes))

# %%
# A patient's age and sex come first, the progression comes last. That is knowledge, and every learner obeys
# it.
known = f2sl.Knowledge(roots=["age", "sex"], leaves=["progression"])
model = f2sl.learn(table, "f2sl-h", knowledge=known)
f2sl.plot(model, highlight=["progression"])

# %%
# ``auto`` chose a test and a score for mixed tables.
model.options_in_use_["ci_test"], model.options_in_use_["score"]

# %%
# Which variables carry information about the progression that no other variable has?
for name in model.graph_.parents("progression"):
    print(name)

# %%
# The ratio of cholesterol to HDL is computed from two other columns, and the four lipids overlap. Edges
# among them say that they are related by definition, not that one drives another. No learner can know that.
# You do.
