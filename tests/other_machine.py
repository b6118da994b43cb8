"""Make a Dask worker behave as on another machine: `dask worker --preload` runs this file in it.

The worker cannot open a file below $AUGCL_HIDDEN.
"""

import os
import sys

HIDDEN = os.environ.get("AUGCL_HIDDEN")


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and str(arguments[0]).startswith(f"{HIDDEN}{os.sep}"):
        raise FileNotFoundError(f"{arguments[0]} is on another machine")


if HIDDEN:
    sys.addaudithook(_refuse)
