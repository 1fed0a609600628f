"""
Comparing learners
==================

All learners share one table and one way to compare graphs. Here four of them learn the ALARM network from
1,000 rows.
"""

# %%
import time

import f2sl

network = f2sl.load_network("alarm")
table = f2sl.open_table(network.sample(1000, random_state=1))
models = {}
for name in ["f2sl-c", "f2sl-h", "mmhc", "pc-stable"]:
    started = time.perf_counter()
    models[name] = f2sl.learn(table, name)
    seconds = time.perf_counter() - started
    result = f2sl.compare(network, models[name])
    print(f"{name:10} {seconds:5.2f} s  SHD {result.shd:2}  missing {result.miss:2}  extra {result.extra:2}")

# %%
# SHD counts edges in which the equivalence classes differ: smaller is better. The first fit of a learner on a
# machine compiles its inner loops, so its seconds may be longer here than the next time.
#
# What did the best one get wrong?
f2sl.plot(models["f2sl-h"], truth=network)

# %%
# With your own data there is no truth to compare with, but learners can be compared with each other.
f2sl.compare(models["mmhc"], models["f2sl-h"])
