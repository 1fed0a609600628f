"""Leave out modules that import PyTorch, which takes seconds, when pytest collects.

`tests/structure/test_dag_gnn.py` runs their examples, so that no other process of tests imports it.
"""

collect_ignore_glob = ["src/f2sl/search/deep/*"]
