"""Settings of the documentation site: Sphinx, the PyData theme, Markdown pages and a gallery of scripts."""

import inspect
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from _generate import PictureScraper, generate  # noqa: E402

import f2sl  # noqa: E402

os.environ["COLUMNS"] = "80"

project = "f2sl"
author = "The f2sl developers"
copyright = "The f2sl developers, MIT licence"
version = release = f2sl.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_generated", "_templates", "gallery/**/*.py", "gallery/**/*.ipynb"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]  # the gallery's settings hold an object, which cannot be stored
default_role = "code"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_ignore_module_all = False
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": "",
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("matplotlib", PictureScraper()),
    "capture_repr": ("_repr_html_", "__repr__"),
    "ignore_repr_types": "Picture",
    "reset_modules": (),
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "download_all_examples": False,
    "thumbnail_size": (400, 280),
}

html_theme = "pydata_sphinx_theme"
html_title = "f2sl"
html_static_path = ["_static"]
html_css_files = ["f2sl.css"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "f2sl"},
    "navigation_with_keys": False,
    "show_prev_next": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"start": [], "index": []}


def show_options(app, what, name, obj, options, signature, returns):
    """Show the options of a learner, which its class has in its signature, instead of ``**options``."""
    if what != "class":
        return None
    found = inspect.signature(obj)
    plain = [one.replace(annotation=one.empty) for one in found.parameters.values()]
    return str(found.replace(parameters=plain, return_annotation=found.empty)), returns


def setup(app):
    """Write the pages and figures that come from the program itself before anything is read."""
    generate(HERE / "_generated")
    app.connect("autodoc-process-signature", show_options)
