"""Change the content of a sound file at random, knowing what kind of file it is.

`mutated(content, name, rng)` returns other bytes. Everything is drawn from `rng`, so that a seed
gives the same damage again.
"""

from __future__ import annotations

import gzip
import io
import itertools
import json
import pickletools
import random
import re
import struct
import warnings
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

MOST = 1 << 20
"""Bytes that a mutation may give; what needs more claims it instead of holding it."""

NUMBERS = """0 -0 1 -1 2 3 7 0.5 1.5 -2.5 1e9 1e30 1e308 1e309 -1e309 1e-320 nan NaN inf -inf +1 01
0x10 1_000 1e 127 128 255 256 32767 65536 1000000 100000000 2147483647 2147483648 -2147483649
4294967296 9007199254740993 9223372036854775807 9223372036854775808 -9223372036854775809 1,5 '1' 1j
18446744073709551616 1000000000000000000000000000000 true false null None x ٣ ½""".split()  # noqa: SIM905
NUMBERS += ["", " ", "9" * 40, "9" * 400, "9" * 5000, "0." + "3" * 400, "1\x002", "\x1b[2J", "😀"]
WORDS = ["", "id", "label", "y", "graph", "source", "target", "smiles", "a" * 70_000, "\x00", '"']
WORDS += ["=cmd", "../x", "/dev/zero", "ä", "\ud7ff", "\u202e", "nan", "weight", "split", "train"]
VALUES: list[Any] = [None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, 10**30, 1e308, 0.5, "", "x"]
VALUES += [[], {}, [None], [[]], [[None]], {"a": 1}, [0], [-1], [1e30], "9" * 400, "\x1b[2J", [""]]
VALUES += [float("nan"), float("inf"), [float("nan")], "nan", ["a", "b"], [[1, 2], [3]], 3, 1e-320]

Rng = random.Random


def mutated(content: bytes, name: str, rng: Rng) -> bytes:
    """Return other bytes for the file `name`, changed once or a few times."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        content = _once(content, name, rng)[:MOST]
    return content


def _once(content: bytes, name: str, rng: Rng) -> bytes:
    if rng.random() < 0.25:
        return of_bytes(content, rng)
    ending = name.rpartition(".")[2].lower()
    change = KINDS.get(ending, of_pickle if name.startswith("ind.") else of_text)
    try:
        return change(content, rng)
    except Exception:  # the content is damaged already
        return of_bytes(content, rng)


def of_bytes(content: bytes, rng: Rng) -> bytes:
    """Flip, cut, insert, repeat, swap or overwrite bytes."""
    data = bytearray(content or b"\0")
    at = rng.randrange(len(data))
    length = min(len(data) - at, rng.choice((1, 1, 2, 4, 8, 64, 1000)))
    how = rng.randrange(8)
    if how == 0:
        data[at] ^= 1 << rng.randrange(8)
    elif how == 1:
        data[at : at + length] = rng.choice((b"\0", b"\xff", b"\x7f", b"\x80")) * length
    elif how == 2:
        del data[at : at + length]
    elif how == 3:
        data[at:at] = rng.randbytes(length)
    elif how == 4:
        data[at:at] = data[at : at + length] * rng.choice((1, 2, 50))
    elif how == 5:
        del data[at:]
    elif how == 6:
        number = rng.choice((0, 1, -1, 2**31 - 1, 2**32, 2**40, 2**62, 2**63 - 1, -(2**63)))
        raw = struct.pack("<q", number)[: rng.choice((4, 8))]
        data[at : at + len(raw)] = raw
    else:
        other = rng.randrange(len(data))
        data[at : at + length], data[other : other + length] = (
            data[other : other + length],
            data[at : at + length],
        )
    return bytes(data)


def of_text(content: bytes, rng: Rng) -> bytes:
    """Change numbers, words, fields and lines."""
    text = content.decode("utf-8", "surrogateescape")
    how = rng.randrange(9)
    if how <= 3:
        pattern = r"-?\d[\d.eE+-]*" if how <= 1 else r"[^\W\d]+" if how == 2 else r"[^\s,;\t]+"
        places = list(re.finditer(pattern, text))
        if places:
            chosen = rng.sample(places, min(len(places), rng.choice((1, 1, 1, 3, len(places)))))
            new = rng.choice(NUMBERS if how <= 1 or rng.random() < 0.5 else WORDS)
            swapped = {place.start(): new for place in chosen}
            text = re.sub(pattern, lambda m: swapped.get(m.start(), m[0]), text)
    elif how <= 6:
        lines = text.splitlines(keepends=True) or [""]
        at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        if how == 4:
            lines[at : at + rng.choice((1, 1, 3, 1000))] = []
        elif how == 5:
            lines[at:at] = [lines[other]] * rng.choice((1, 1, 3, 300))
        else:
            lines[at] = _of_fields(lines[at], rng)
        text = "".join(lines)
    else:
        at = rng.randrange(len(text) + 1)
        odd = [",", ";", "\t", '"', "'", "\n", "\r\n", "\r", "\0", "\ufeff", " ", "#", "[", "]"]
        odd += ["{", "}", "<", ">", "&", "&#0;", "\\", "%", "(", ")", "=", "\x1a", "\u2028"]
        text = text[:at] + rng.choice(odd) * rng.choice((1, 1, 2, 5000)) + text[at:]
    return text.encode("utf-8", "surrogateescape" if _has_escapes(text) else "surrogatepass")


def _has_escapes(text: str) -> bool:
    return any("\udc80" <= letter <= "\udcff" for letter in text)


def _of_fields(line: str, rng: Rng) -> str:
    mark = next((m for m in (",", "\t", ";", " ") if m in line), ",")
    fields = line.split(mark)
    at = rng.randrange(len(fields))
    how = rng.randrange(5)
    if how == 0:
        del fields[at]
    elif how == 1:
        fields[at:at] = [fields[at]] * rng.choice((1, 2, 300))
    elif how == 2:
        rng.shuffle(fields)
    elif how == 3:
        fields[at] = rng.choice(NUMBERS + WORDS)
    else:
        fields[at] = f'"{fields[at]}'
    return mark.join(fields)


def of_json(content: bytes, rng: Rng) -> bytes:
    """Replace, remove, double or nest values of a JSON text."""
    if rng.random() < 0.2:
        return of_text(content, rng)
    if content.count(b"\n") > 1 and content.lstrip()[:1] == b"{" and content[-2:-1] == b"}":
        try:  # one record per line
            lines = content.splitlines()
            at = rng.randrange(len(lines))
            lines[at] = json.dumps(of_value(json.loads(lines[at]), rng)).encode()
            return b"\n".join(lines) + b"\n"
        except ValueError:
            pass
    return json.dumps(of_value(json.loads(content), rng)).encode()


def of_value(value: Any, rng: Rng) -> Any:
    """Change one place in a nested value."""
    inside = value if isinstance(value, dict | list) and value else None
    if inside is None or rng.random() < 0.15:
        how = rng.randrange(8)
        if how == 0:
            return [value]
        if how == 1:
            deep: Any = value
            for _ in range(rng.choice((2, 50, 900))):
                deep = [deep]
            return deep
        if how == 2 and type(value) in (int, float):
            return rng.choice((-value, value + 1, value * 2, str(value), float(value), value - 1))
        return rng.choice(VALUES)
    value = dict(inside) if isinstance(inside, dict) else list(inside)
    key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
    how = rng.random()
    if how < 0.1:
        del value[key]
    elif how < 0.15:
        if isinstance(value, dict):
            value[rng.choice(WORDS)] = value.pop(key)
        else:
            value[key:key] = [value[key]] * rng.choice((1, 3))
    else:
        value[key] = of_value(value[key], rng)
    return value


def of_zip(content: bytes, rng: Rng, inner: Callable[[bytes, str, Rng], bytes] = _once) -> bytes:
    """Change, drop, double or rename a member, or the bytes of the archive itself."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(m.filename, archive.read(m)) for m in archive.infolist()]
    at = rng.randrange(len(members))
    name, inside = members[at]
    how = rng.random()
    if how < 0.08:
        del members[at]
    elif how < 0.12:
        members.append((name, inside))
    elif how < 0.18:
        members[at] = (rng.choice((*WORDS[:8], "../x", f"../{name}", f"x/{name}")), inside)
    else:
        members[at] = (name, inner(inside, name, rng))
    packed = io.BytesIO()
    kind = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(packed, "w", kind) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a name twice
        for member, inside in members:
            entry = zipfile.ZipInfo(member.replace("\0", "") or "x")
            entry.compress_type = kind
            archive.writestr(entry, inside)
    changed = packed.getvalue()
    return of_bytes(changed, rng) if rng.random() < 0.1 else changed


DTYPES = "<f2 <f4 <f8 >f4 <i1 <i2 <i4 <i8 >i8 <u1 <u2 <u4 <u8 |b1 <c8 <U3 <S3 <M8[s] <m8[D] |O"


def of_npy(content: bytes, rng: Rng) -> bytes:
    """Change the header, the shape, the type or the values of an array."""
    array = np.load(io.BytesIO(content), allow_pickle=False)
    how = rng.randrange(7)
    if how == 0:
        return _npy(
            array.shape, rng.choice(DTYPES.split()), content[-array.nbytes :] if array.size else b""
        )
    if how == 1:
        sizes = (
            0,
            1,
            2,
            3,
            len(array) if array.ndim else 1,
            10**6,
            2**31,
            10**12,
            2**62,
            2**70,
            -1,
        )
        shape = tuple(rng.choice(sizes) for _ in range(rng.randrange(4)))
        return _npy(shape, array.dtype.str, array.tobytes())
    if how == 2:
        with np.errstate(all="ignore"):
            try:
                array = array.astype(rng.choice(DTYPES.split()[:-1]))
            except (TypeError, ValueError):
                array = np.zeros(array.shape, rng.choice(DTYPES.split()[:-1]))
    elif how == 3 and array.size and array.dtype.kind in "iuf":
        flat = array.reshape(-1).astype(array.dtype, copy=True)
        info: Any = np.finfo(array.dtype) if array.dtype.kind == "f" else np.iinfo(array.dtype)
        odd = [info.max, info.min, 0, 1, 2, len(flat), len(flat) + 1]
        odd += [np.nan, np.inf, -1.0, 0.5] if array.dtype.kind == "f" else []
        odd += [-1, 2**31 - 1] if array.dtype.kind == "i" and array.itemsize > 2 else []
        count = rng.choice((1, 1, 1, len(flat)))
        flat[rng.sample(range(len(flat)), count)] = rng.choice(odd)
        array = flat.reshape(array.shape)
    elif how == 4 and array.ndim:
        keep = rng.randrange(len(array) + 1)
        array = rng.choice((array[:keep], np.concatenate([array, array[keep:]]), array[::-1]))
    elif how == 5:
        array = rng.choice((array[None], array[..., None], array.T, array.reshape(-1)))
    else:
        array = np.array(rng.choice(WORDS[:12] + NUMBERS[:40]))
    packed = io.BytesIO()
    np.save(packed, np.asarray(array), allow_pickle=False)
    return packed.getvalue()


def _npy(shape: tuple[int, ...], kind: str, raw: bytes) -> bytes:
    packed = io.BytesIO()
    facts = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(packed, facts)  # type: ignore[arg-type]
    return packed.getvalue() + raw


def of_parquet(content: bytes, rng: Rng) -> bytes:
    """Change the type or the values of a column, or which columns there are."""
    table = pyarrow.parquet.read_table(io.BytesIO(content))
    at, count = rng.randrange(table.num_columns), table.num_rows
    name, how = table.column_names[at], rng.randrange(6)
    if how == 0:
        table = table.remove_column(at)
    elif how == 1:
        table = table.append_column(rng.choice((*WORDS[:9], name)), table.column(at))
    elif how == 2:
        table = table.slice(rng.randrange(count + 1), rng.randrange(count + 1))
    elif how == 3:
        names = list(table.column_names)
        names[at] = rng.choice(WORDS)
        table = table.rename_columns(names)
    else:
        odd: list[Any] = [
            [rng.choice((None, 0, 1, -1, 2**40)) for _ in range(count)],
            [rng.choice((None, 0.5, float("nan"), float("inf"), 1e300)) for _ in range(count)],
            [rng.choice((None, "", "a", "1", "nan", "\x1b[2J")) for _ in range(count)],
            [[1, 2]] * count,
            [{"a": 1}] * count,
            [b"\xff\x00"] * count,
            [True] * count,
            [None] * count,
            pa.array([0] * count, pa.timestamp("us")),
            pa.array([0] * count, pa.decimal128(30, 3)),
            pa.array([0] * count, pa.uint64()),
            pa.array([0] * count, pa.date32()),
            pa.array([0] * count, pa.duration("s")),
            pa.array([2**64 - 1] * count, pa.uint64()),
            pa.array([1.0] * count, pa.float16()),
            pa.array(["a"] * count).dictionary_encode(),
            pa.array([None] * count, pa.null()),
        ]
        table = table.set_column(at, name, pa.array(rng.choice(odd)))
    packed = io.BytesIO()
    pyarrow.parquet.write_table(table, packed)
    return packed.getvalue()


def of_pickle(content: bytes, rng: Rng) -> bytes:
    """Drop, double, swap or replace instructions of a pickle."""
    starts = [place or 0 for _, _, place in pickletools.genops(content)] + [len(content)]
    parts = [content[a:b] for a, b in itertools.pairwise(starts)]
    at, other = rng.randrange(len(parts)), rng.randrange(len(parts))
    how = rng.randrange(5)
    if how == 0:
        del parts[at : at + rng.choice((1, 1, 5))]
    elif how == 1:
        parts[at:at] = [parts[other]] * rng.choice((1, 1, 200))
    elif how == 2:
        parts[at], parts[other] = parts[other], parts[at]
    else:
        large = rng.choice((0, -1, 2**31 - 1, -(2**31), 10**8))
        raw = struct.pack("<i", large)
        odd = [b"J" + raw, b"K\xff", b"N", b"}", b"]", b")", b"(", b"0", b"2", b"R", b"b", b"t"]
        odd += [b"\x8a\x0d" + b"\x7f" * 13, b"U\x03abc", b"cos\nsystem\n", b"q\x00", b"h\x00", b"s"]
        odd += [
            b"j" + raw,
            b"r" + raw,
            b"e",
            b"u",
            b"a",
            b"Q",
            b".",
            b"T" + raw,
            b"G" + b"\x7f" * 8,
        ]
        parts[at] = rng.choice(odd)
    return b"".join(parts)


def of_safetensors(content: bytes, rng: Rng) -> bytes:
    """Change the header, the facts in it, or the numbers behind it."""
    (length,) = struct.unpack("<Q", content[:8])
    header, data = json.loads(content[8 : 8 + length]), content[8 + length :]
    how = rng.random()
    if how < 0.6 and "augcl" in header.get("__metadata__", {}):
        about = of_value(json.loads(header["__metadata__"]["augcl"]), rng)
        header["__metadata__"]["augcl"] = json.dumps(about)
    elif how < 0.75:
        name = rng.choice([key for key in header if key != "__metadata__"])
        entry = header[name]
        size = entry["data_offsets"][1] - entry["data_offsets"][0]
        kind, width = rng.choice((("F32", 4), ("I64", 8), ("F16", 2), ("BOOL", 1), ("F64", 8)))
        entry["dtype"], entry["shape"] = kind, rng.choice(([size // width], [1, size // width]))
        if rng.random() < 0.3:
            header[rng.choice((*WORDS[:6], f"{name}.x"))] = header.pop(name)
    elif how < 0.8:
        header = of_value(header, rng)
    else:
        changed = bytearray(data)
        for _ in range(rng.choice((1, 1, 10))):
            at = 4 * rng.randrange(max(1, len(changed) // 4))
            odd = (b"\xff\xff\xff\x7f", b"\0\0\x80\x7f", b"\0\0\0\0\x01\0\0\0", b"\xff" * 8)
            new = rng.choice((*odd, rng.randbytes(4)))
            changed[at : at + len(new)] = new
        data = bytes(changed[: len(data)])
    raw = json.dumps(header).encode()
    return struct.pack("<Q", len(raw)) + raw + data


BLOCKS = ["(", ")", "1", "%10", "%(999)", "[", "]", "=", "#", "$", ".", "C", "c", "N+", "[Og]", "*"]
BLOCKS += [
    "[C@@H]",
    "[2H]",
    "[*:1]",
    "[#6]",
    "/",
    "\\",
    "->",
    ">>",
    "[H]",
    "~",
    "C" * 300,
    "(C" * 50,
]


def of_table(content: bytes, rng: Rng) -> bytes:
    """Change a CSV file, now and then in the way of SMILES."""
    if b"smiles" in content and rng.random() < 0.4:
        text = content.decode("utf-8", "surrogateescape")
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(BLOCKS) * rng.choice((1, 1, 3)) + text[at:]
        return text.encode("utf-8", "surrogateescape")
    return of_text(content, rng)


def of_gzip(content: bytes, rng: Rng) -> bytes:
    """Change the text of a packed file, or what it packs."""
    text = of_table(gzip.decompress(content), rng)
    if rng.random() < 0.05:
        text += rng.choice((bytes(MOST), text[:20] * 10_000))
    packed = gzip.compress(text, mtime=0)
    return of_bytes(packed, rng) if rng.random() < 0.1 else packed


KINDS: dict[str, Callable[[bytes, Rng], bytes]] = {
    "zip": of_zip,
    "npz": of_zip,
    "npy": of_npy,
    "json": of_json,
    "jsonl": of_json,
    "csv": of_table,
    "gz": of_gzip,
    "parquet": of_parquet,
    "safetensors": of_safetensors,
    "index": of_text,
}
