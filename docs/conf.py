"""Settings of the documentation: `make docs`."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(Path(__file__).resolve().parent / "_ext"))

project = "Assignor Lab"
author = "The Assignor Lab authors"
release = version = metadata.version("assignor-lab")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.doctest",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "api_pages",
]
exclude_patterns = ["_build"]

# --- notebooks run with every build, and an error in one of them fails it -------------------------

nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
# Spark writes its progress there.
nb_output_stderr = "remove"
html_theme = "furo"
html_title = "Assignor Lab"
html_show_copyright = False

myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3

# --- the API pages: one for each module of the contract (see _ext/api_pages.py) -------------------

api_pages_package = str(ROOT / "assignment_api")
autodoc_default_options = {"members": True, "member-order": "bysource", "show-inheritance": True}
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
python_use_unqualified_type_names = True

# --- unresolved references fail the build ----------------------------------------------------------

nitpicky = True
# Kafka and the contract have two classes TaskId, one for each protocol: a bare name in an annotation that attrs copied
# is ambiguous. Unresolved names still fail the build.
suppress_warnings = ["ref.python"]
# Inventories of other projects would be downloads, so names of the standard library and of dependencies are not
# checked.
_FOREIGN = "|".join([*sorted(sys.stdlib_module_names), "attr", "attrs", "pluggy", "typeguard", "pyspark"])
nitpick_ignore_regex = [
    (r"py:.*", rf"(?:{_FOREIGN})(?:\..*)?"),
    # Names that modules import for annotations alone.
    (r"py:class", r"Distribution|GroupTaskAssignor"),
]

# --- the examples run -----------------------------------------------------------------------------

doctest_test_doctest_blocks = "default"
doctest_global_setup = "from assignment_api import *"
