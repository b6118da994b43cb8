"""What the page shows of a seed: the same after a stop; refused by name where it is damaged."""

from dataclasses import replace

import numpy as np
import pytest

from augcl.errors import InputError
from augcl.runs.explored import FILE, WATCHED_FILE, read_explored, write_explored
from augcl.runs.run import Spec
from augcl.runs.seeds import Place, run_seeds
from stopping import StopError, stop_after

SPEC = Spec("MUTAG", "GraphCL", "dcl", epochs=6)


def arrays(place):
    with np.load(place.seed_folder(0) / FILE) as found:
        return dict(found)


def same(one, other):
    assert one.keys() == other.keys()
    return all(np.array_equal(one[name], other[name], equal_nan=name == "loss") for name in one)


def test_the_weights_of_epochs_before_a_stop_are_kept(tmp_path, monkeypatch):
    calm, stopped = (Place(tmp_path / name, judge=False) for name in ("calm", "stopped"))
    run_seeds(SPEC, 1, calm)
    with monkeypatch.context() as patch:
        stop_after(patch, 4)
        with pytest.raises(StopError):
            run_seeds(SPEC, 1, stopped)
    assert (stopped.seed_folder(0) / WATCHED_FILE).exists()
    resumed = replace(stopped, resume=True)
    run_seeds(SPEC, 1, resumed)
    assert arrays(calm)["weights.epochs"].tolist() == [1, 2, 3, 4, 5, 6]
    assert same(arrays(calm), arrays(stopped))
    names = [sorted(path.name for path in p.seed_folder(0).iterdir()) for p in (calm, stopped)]
    assert names[0] == names[1]
    assert WATCHED_FILE not in names[0]

    run_seeds(SPEC, 1, replace(resumed, judge=True))  # nothing is trained, but all is judged
    again = arrays(stopped)
    assert "predicted" in again
    assert same(arrays(calm), {name: again[name] for name in arrays(calm)})


def test_a_directory_of_members_that_begins_too_late_is_named(tmp_path):
    file = tmp_path / FILE
    write_explored(file, {"loss": np.zeros(3)})
    content = bytearray(file.read_bytes())
    content[-6] += 1  # the first member begins at -1: the system calls that an invalid argument
    file.write_bytes(content)
    with pytest.raises(InputError, match=f"{FILE} is damaged or not ours .*: delete it"):
        read_explored(file)
