"""What pytest leaves alone: modules that need an extra which is not installed."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["src/f2sl/search/deep/*"]
