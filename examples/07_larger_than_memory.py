"""
A table larger than memory
==========================

With ``engine="stream"`` f2sl reads a folder of files in blocks. The graph is the same, to the last bit, as
if the table had been in memory.
"""

# %%
# A folder of five Parquet files: 500,000 rows of 37 columns, 18.5 MB at one byte a cell and 148 MB as
# numbers.
import tempfile
from pathlib import Path

import f2sl

folder = Path(tempfile.mkdtemp())
network = f2sl.load_network("alarm")
for part in range(5):
    network.sample(100_000, random_state=part).to_parquet(folder / f"part-{part}.parquet")

# %%
# Learn within 16 MB, the smallest limit. It applies to the data; Python and its libraries need more.
with f2sl.open_table(folder, engine="stream", memory="16MB") as table:
    print(table)
    streamed = f2sl.F2SLc().fit(table)
f2sl.plot(streamed)

# %%
# The same table in memory gives the same graph.
in_memory = f2sl.learn(folder, "f2sl-c", engine="memory")
in_memory.graph_ == streamed.graph_

# %%
# On the command line::
#
#     f2sl learn folder/ --memory 256MB --out graph.json
#
# Without ``engine`` or ``memory``, f2sl streams when a table would take more than half of the free memory.
