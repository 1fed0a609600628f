"""Replace the Cytoscape.js that the page holds by the newest, or by a version that is named.

    python tools/update_cytoscape.py           # the newest on npm
    python tools/update_cytoscape.py 3.34.4    # this one

Needs `npm`. The minified file and the licence are taken from the package as they are. Afterwards run the
tests of the page, tests/view/test_page_browser.py, and look at a page.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ASSETS = Path(__file__).parent.parent / "src" / "f2sl" / "view" / "assets"
TAKEN = {
    "package/dist/cytoscape.min.js": "cytoscape.min.js",
    "package/LICENSE": "cytoscape.LICENSE",
}


def main() -> None:
    wanted = f"cytoscape@{sys.argv[1]}" if len(sys.argv) > 1 else "cytoscape"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "pack", "--silent", wanted], cwd=folder, check=True)
        (package,) = Path(folder).glob("cytoscape-*.tgz")
        with tarfile.open(package) as archive:
            for inside, name in TAKEN.items():
                member = archive.extractfile(inside)
                assert member is not None
                (ASSETS / name).write_bytes(member.read())
        print(f"took {package.stem.replace('-', ' ')} into {ASSETS}")


if __name__ == "__main__":
    main()
