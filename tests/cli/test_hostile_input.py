"""Damaged, foreign and extreme input on the command line: exit 2 and one line, nothing lost."""

import pytest


@pytest.fixture
def huge(tmp_path):
    """Six paths whose node features are finite, but too large for any network."""
    folder = tmp_path / "huge"
    folder.mkdir()
    nodes = [f"{g},{i},{(i + g) % 3 + 1}e30" for g in range(6) for i in range(5)]
    edges = [f"{g},{i},{i + 1}" for g in range(6) for i in range(4)]
    (folder / "nodes.csv").write_text("graph,node,a\n" + "\n".join(nodes) + "\n")
    (folder / "edges.csv").write_text("graph,source,target\n" + "\n".join(edges) + "\n")
    return folder


@pytest.mark.filterwarnings("default:GraphCL on huge")
def test_embeddings_that_are_not_numbers_are_not_written(augcl, huge, tmp_path):
    settings = ("--no-evaluate", "--hardness", "none", "--seeds", 1, "--epochs", 1)
    answer = augcl("train", huge, *settings, "--out", tmp_path / "x")
    assert answer.code == 2
    assert "scale the features" in answer.err.splitlines()[-1]
    written = {path.name for path in (tmp_path / "x").rglob("*")}
    assert not written & {"model", "model.safetensors", "embeddings.npz", "result.json"}
