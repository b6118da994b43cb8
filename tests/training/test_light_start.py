"""What a training costs before it begins."""

import subprocess
import sys

SCRIPT = """
import sys, augcl
augcl.GraphCL(hardness="augcl", epochs=2, progress=False).fit(augcl.load("MUTAG"))
print(*{"torch._dynamo", "sympy", "lightning_fabric"} & set(sys.modules))
"""


def test_training_on_the_cpu_imports_neither_a_compiler_nor_algebra():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
