"""``python -m robustness NAME …`` runs the file of that name: fuzz, chaos, soak, mutants."""

from __future__ import annotations

import importlib
import sys

NAMES = ("fuzz", "chaos", "soak", "mutants")

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        sys.exit(f"usage: python -m robustness {{{','.join(NAMES)}}} …")
    sys.exit(importlib.import_module(f"robustness.{sys.argv[1]}").main(sys.argv[2:]))
