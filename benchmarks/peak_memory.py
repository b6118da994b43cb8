"""``python -m benchmarks.peak_memory NAME``: train on a data set, print the peak memory in GB."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

from benchmarks.data import graphs
from benchmarks.training import fit


def peak_gigabytes() -> float:
    """Largest resident size of this process so far."""
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss would also count the process that started this one
        line = next(s for s in status.read_text().splitlines() if s.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e9
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


if __name__ == "__main__":
    fit(graphs(sys.argv[1]), epochs=2)
    print(peak_gigabytes())
