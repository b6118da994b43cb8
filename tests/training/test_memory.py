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
