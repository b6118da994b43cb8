"""Train on a data set, print the peak memory in GB: ``python -m benchmarks.peak_memory NAME``."""

from __future__ import annotations

import sys

from augcl.runs.run import peak_memory
from benchmarks.data import graphs
from benchmarks.training import fit

if __name__ == "__main__":
    fit(graphs(sys.argv[1]), epochs=2)
    print(peak_memory() / 1e9)
