"""Run the command line as ``python -m f2sl``."""

import sys

from f2sl.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
