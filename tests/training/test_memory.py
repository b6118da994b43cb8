import subprocess
import sys

import pytest

SCRIPT = """
import resource
import numpy as np
from augcl.training.threads import keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(5):
        np.ones(20_000_000)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

usual = faults()
keep_freed_memory()
faults()
print(usual, faults())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="it is glibc that hands memory back")
def test_freed_memory_is_used_again_instead_of_being_handed_back():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, check=True)
    usual, kept = map(int, done.stdout.split())
    assert kept < usual / 10


GIVEN_BACK = """
from pathlib import Path
import numpy as np
from augcl.training.threads import give_back_memory, keep_freed_memory

def resident():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))

keep_freed_memory()
before = resident()
np.ones(20_000_000)
kept = resident()
give_back_memory()
print(kept - before, resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="it is glibc that hands memory back")
def test_kept_memory_is_given_back_when_it_is_asked_for():
    done = subprocess.run([sys.executable, "-c", GIVEN_BACK], capture_output=True, check=True)
    kept, left = map(int, done.stdout.split())
    assert kept > 150_000  # kB
    assert left < kept / 10
