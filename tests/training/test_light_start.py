"""What a command and a training cost before they begin: the modules that they load."""

import subprocess
import sys

SLOW = {
    "torch._dynamo",
    "sympy",
    "lightning_fabric",
    "torch_geometric",
    "networkx",
    "sklearn",
    "scipy.stats",
    "matplotlib",
    "plotly",
}
"""Modules that take long to import; a training needs none of them."""

LISTED = f"print(*{SLOW!r} & set(sys.modules))"
PROGRAM = f"""
import sys, augcl
augcl.GraphCL(hardness="augcl", epochs=2, progress=False).fit(augcl.load("MUTAG"))
{LISTED}
from augcl.cli.train import train
from augcl.runs.data_check import advice
from augcl.runs.recommend import BESIDE
from augcl.runs.run import Spec, check, run
from augcl.runs.seeds import run_seeds
spec = Spec("MUTAG", epochs=1)
check(spec, spec.load())
run(spec, 0, judge=False, progress=False)
{LISTED}
augcl.evaluate
{LISTED}
"""


def test_a_training_imports_nothing_that_only_the_evaluation_needs():
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    fitted, started, evaluated = (line.split() for line in done.stdout.splitlines())
    assert fitted == []
    assert started == []  # by the start of augcl train
    assert "sklearn" in evaluated
