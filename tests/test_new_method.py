"""CONTRIBUTING's promise: a new method is one file and its export."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import augcl

TOY = '''"""A method that exists in this test only."""

from augcl.methods.graphcl import GraphCL


class {name}(GraphCL):
    """GraphCL under another name."""
'''
SCRIPT = """
import json, runpy, sys
import augcl
graphs = augcl.load("MUTAG")
augcl.Toy(epochs=1, progress=False).fit(graphs).save("model")
kind = type(augcl.load_model("model")).__name__
with open("found.json", "w") as file:
    json.dump([kind, "Toy" in dir(augcl), augcl.Other.__name__], file)
command = "train MUTAG --method Other --epochs 1 --seeds 1 --no-evaluate --out run"
sys.argv = ["augcl", *command.split()]
runpy.run_module("augcl", run_name="__main__")
"""


def test_a_file_and_its_export_make_a_method(tmp_path):
    package = tmp_path / "augcl"
    shutil.copytree(Path(augcl.__file__).parent, package)
    for room, name in (("rivals", "Toy"), ("methods", "Other")):
        (package / room / "toy.py").write_text(TOY.format(name=name))
        with (package / room / "__init__.py").open("a") as file:
            file.write(f"\nfrom augcl.{room}.toy import {name}\n\n__all__ += ['{name}']\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "found.json").read_text()) == ["Toy", True, "Other"]
    assert json.loads((tmp_path / "run" / "result.json").read_text())["method"] == "Other"
