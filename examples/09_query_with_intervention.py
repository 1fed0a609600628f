"""
A query with an intervention
============================

Seeing is not doing. Patients with bronchitis have lung cancer more often, because smoking causes both.
Treating the bronchitis does not prevent the cancer. A fitted network distinguishes the two, if its arrows are
right.
"""

# %%
# Learn the structure from 20,000 patients drawn from the asia network, and fit its probabilities.
import f2sl

truth = f2sl.load_network("asia")
table = f2sl.open_table(truth.sample(20_000, random_state=1))
tiers = [["asia", "smoke"], ["tub", "lung", "bronc"], ["either"], ["xray", "dysp"]]
known = f2sl.Knowledge(tiers=tiers, within_tiers=False)
model = f2sl.learn(table, "f2sl-h", knowledge=known)
network = model.network(table)
f2sl.plot(model, highlight=["smoke", "bronc", "lung"])

# %%
# **Seeing**: how many have lung cancer among those with bronchitis, and among those without?
for state in ("yes", "no"):
    print(state, round(network.query("lung", {"bronc": state})["yes"], 4))

# %%
# **Doing**: what if we could give or cure bronchitis? Nothing happens to lung cancer.
for state in ("yes", "no"):
    print(state, round(network.query("lung", do={"bronc": state})["yes"], 4))

# %%
# And what if everybody smoked, or nobody? The learned network, then the true one:
for one in (network, truth):
    print([round(one.query("lung", do={"smoke": state})["yes"], 4) for state in ("yes", "no")])

# %%
# These answers are causal only as far as the graph is. Here we know that it is: the data come from the
# network, nothing is left unmeasured, and with our tiers the learned graph is the true one. With your own
# data, the tiers are your claim, and an unmeasured common cause can break the answer without any sign in the
# data.
