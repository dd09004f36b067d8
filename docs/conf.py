# SPDX-License-Identifier: GPL-2.0-only
"""What Sphinx builds of docs/: scripts/docs calls it."""
import pathlib

project = "Weir"
copyright = "the Weir authors; GPL-2.0-only"  # pylint: disable=redefined-builtin
release = (pathlib.Path(__file__).parent / "VERSION").read_text().strip()
version = release
extensions = ["myst_parser", "sphinx.ext.mathjax"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
html_theme = "alabaster"
html_theme_options = {
    "description": "Packet and flow co-simulation of training clusters, an extension of ns-3",
    "page_width": "1100px",
    "fixed_sidebar": True,
}
html_show_sourcelink = False
highlight_language = "none"
