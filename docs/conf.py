"""How the site is built: ``sphinx-build -W docs docs/_build/html``. Nothing in it is fetched from elsewhere."""

import os
import sys
from importlib.metadata import version as installed
from pathlib import Path

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "truecount"
author = "The truecount developers"
project_copyright = author
version = release = installed("truecount")
language = "en"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_design",
    "mathml",
    "command_help",
    "public_names",
    "measured",
]
exclude_patterns = ["_build", "_ext", "_static", "_templates", "**/.ipynb_checkpoints"]
templates_path = ["_templates"]

# Markdown, and pages whose code runs while the site is built. Nothing is kept between builds.
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_inline"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_in_temp = True
os.environ["TRUECOUNT_DOCS"] = str(Path(__file__).parent)  # where pages find the files that come with them
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True
nb_output_stderr = "show"
nb_ipywidgets_js = {}

# The reference, made from docstrings.
autosummary_generate = True
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
default_role = "literal"
add_module_names = False

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "truecount"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "truecount"},
    "navbar_end": ["theme-switcher"],
    "navbar_align": "left",
    "show_nav_level": 1,
    "navigation_depth": 1,
    "collapse_navigation": True,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}


def list_other_pages(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put pages that nobody listed into the contents of their folder; those in ``docs/`` itself are guides."""
    folder, _, name = docname.rpartition("/")
    if name == "index" and folder:
        pages = {
            page.removeprefix(f"{folder}/"): page for page in app.env.found_docs if page.rpartition("/")[0] == folder
        }
        if folder == "guides":
            pages |= {
                page: page for page in app.env.found_docs if "/" not in page and page not in {"index", "contribute"}
            }
        other = sorted(page for short, page in pages.items() if f"\n{short}\n" not in source[0] and short != "index")
        source[0] = source[0].replace("OTHER_PAGES", "\n".join(f"/{page}" for page in other))


def setup(app: Sphinx) -> None:
    """Connect what is asked while pages are read."""
    app.connect("source-read", list_other_pages)
