import errno
import json
import math

import pytest

from augcl.errors import InputError
from augcl.files import (
    append_line,
    atomic_path,
    read_record,
    remove_temporary,
    write_json,
    write_text,
)


def half_a_file(path, error):
    path.write_text("half of the n")
    raise error


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    target = tmp_path / "result.json"
    write_text(target, "old")
    with pytest.raises(KeyboardInterrupt), atomic_path(target) as temporary:
        half_a_file(temporary, KeyboardInterrupt())
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_write_that_fails_creates_no_file(tmp_path):
    with pytest.raises(RuntimeError, match="no"), atomic_path(tmp_path / "new") as temporary:
        half_a_file(temporary, RuntimeError("no"))
    assert list(tmp_path.iterdir()) == []


def test_folders_on_the_way_are_made(tmp_path):
    write_json(tmp_path / "a" / "b" / "c.json", {"x": 1})
    assert json.loads((tmp_path / "a" / "b" / "c.json").read_text()) == {"x": 1}


def test_an_error_of_the_system_names_the_file_and_not_its_temporary_twin(tmp_path):
    target = tmp_path / "embeddings.npz"
    with pytest.raises(OSError, match="No space") as caught, atomic_path(target):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert caught.value.filename == str(target)
    assert caught.value.errno == errno.ENOSPC


def test_an_error_that_is_about_another_file_keeps_its_name(tmp_path):
    with (
        pytest.raises(FileNotFoundError) as caught,
        atomic_path(tmp_path / "target"),
        (tmp_path / "source").open(),
    ):
        pass
    assert caught.value.filename == str(tmp_path / "source")


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_a_record_with_a_number_that_we_never_write_is_damaged(tmp_path, number):
    file = tmp_path / "record.json"
    file.write_text(f'{{"mean": {number}}}')
    with pytest.raises(InputError, match=f"damaged .{number} is no finite number.*delete it"):
        read_record(file)


def test_numbers_that_json_does_not_know_are_refused(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "x.json", {"loss": math.nan})
    assert list(tmp_path.iterdir()) == []


def test_a_line_is_added_whole_or_not_at_all(tmp_path, monkeypatch):
    file = tmp_path / "metrics.jsonl"
    append_line(file, "one")
    real_open = type(file).open

    def full(self, *arguments, **options):
        stream = real_open(self, *arguments, **options)
        write = stream.write

        def some(text):
            write(text[:2])
            stream.flush()
            raise OSError(errno.ENOSPC, "No space left on device")

        stream.write = some
        return stream

    with monkeypatch.context() as patch:
        patch.setattr(type(file), "open", full)
        with pytest.raises(OSError, match="No space") as caught:
            append_line(file, "two")
    assert caught.value.filename == str(file)
    append_line(file, "three")
    assert file.read_text() == "one\nthree\n"


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path):
    for name in (".model.safetensors.x1.tmp", ".hidden", "my.tmp", "model.safetensors"):
        (tmp_path / name).touch()
    remove_temporary(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == [".hidden", "model.safetensors", "my.tmp"]
