"""Freed memory is kept for the next step instead of given back to the system after each one."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # names of the C library's settings
KEPT = 256 << 20
LARGEST = 32 << 20
"""Bytes: pieces beyond this go back at once; the C library allows no more."""


@cache
def keep_memory() -> bool:
    """Ask the C library for it; whether it could be asked.

    A step of training takes the same memory as the one before. Given back in between, it comes
    back page by page, which took a tenth of the time.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):  # a C library without it
        return False
    return bool(mallopt(MMAP_THRESHOLD, LARGEST)) and bool(mallopt(TRIM_THRESHOLD, KEPT))
