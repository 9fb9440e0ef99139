"""The studio: the pages of runs, alive in a browser. `akinai.studio(...)` opens it, as the command does."""

from akinai.callable_package import make_callable

make_callable(__name__)
