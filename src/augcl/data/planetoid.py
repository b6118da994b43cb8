"""Read citation networks in the planetoid files: Cora, CiteSeer and PubMed.

The planetoid files exist only as pickles. Loading a pickle calls any function that the file names,
so none is ever loaded here. Instead the standard library's disassembler lists its instructions,
which executes nothing, and `read_plain_pickle` follows the few instructions that build numbers,
text, lists, dicts, NumPy arrays and scipy's sparse matrices. A file that names anything else is
refused.
"""

from __future__ import annotations

import pickletools
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.sparse import csr_array, vstack
from torch import Tensor

from augcl.data.limits import check_shape
from augcl.data.node_graph import NodeGraph, Splits
from augcl.data.sparse import csr_from_parts
from augcl.data.table import known_numbers
from augcl.data.targets import Reading
from augcl.errors import InputError, mistakes_in, readable
from augcl.files import read_text


class _Name(NamedTuple):
    """A function or class that the file names; it is compared with a list and never imported."""

    module: str
    name: str


class _Unbuilt:
    """The parts of an array, dtype or matrix, until the whole file has been read."""

    def __init__(self, kind: str, arguments: tuple[Any, ...] = ()) -> None:
        self.kind = kind
        self.arguments = arguments
        self.state: Any = None


_ARRAY_MAKERS = {_Name(f"numpy.{core}.multiarray", "_reconstruct") for core in ("core", "_core")}
_SCALAR_MAKERS = {maker._replace(name="scalar") for maker in _ARRAY_MAKERS}
_MATRICES = {_Name(f"scipy.sparse.{csr}", "csr_matrix") for csr in ("csr", "_csr")}
_OBJECT_MAKERS = {_Name("copy_reg", "_reconstructor"), _Name("copyreg", "_reconstructor")}
_DICTS = {_Name("collections", "defaultdict"), _Name("collections", "OrderedDict")}
_DTYPE = _Name("numpy", "dtype")
_BYTES = {_Name("_codecs", "encode"), _Name("__builtin__", "bytes")}  # Python 3 for Python 2
_TOLD = {_Name("numpy", "ndarray")} | {  # what the makers above are told to make
    _Name(module, name) for module in ("__builtin__", "builtins") for name in ("list", "object")
}
_KNOWN = {_DTYPE}.union(
    _ARRAY_MAKERS, _SCALAR_MAKERS, _MATRICES, _OBJECT_MAKERS, _DICTS, _BYTES, _TOLD
)


def read_plain_pickle(path: Path) -> Any:
    """Return the array, sparse matrix or dict in a pickle file, without loading it.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "harmful"
    >>> _ = file.write_bytes(b"cos\\nsystem\\n(S'echo harm'\\ntR.")
    >>> read_plain_pickle(file)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    augcl.errors.InputError: ...harmful names os.system, which no data file needs: it is not read
    """
    with readable(path):
        content = path.read_bytes()
    try:
        with warnings.catch_warnings():  # of the disassembler, about odd bytes in text
            warnings.filterwarnings("ignore", message=".*escape sequence")
            return _finish(_follow(content, path), path)
    except InputError:
        raise
    except (
        ValueError,
        IndexError,
        KeyError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"{path} is damaged or not a file of arrays ({reason}): get it again"
        ) from None


_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_TUPLES = {"EMPTY_TUPLE": 0, "TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_IGNORED = {"PROTO", "FRAME", "STOP"}
_VALUES = {
    *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
    *("STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE"),
    *("BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BINUNICODE8"),
}


def _follow(content: bytes, path: Path) -> Any:
    """Follow the instructions; arrays and matrices in the result are still unbuilt."""
    stack: list[Any] = []
    marks: list[int] = []
    memo: dict[int, Any] = {}

    def since_mark() -> list[Any]:
        start = marks.pop()
        values = stack[start:]
        del stack[start:]
        return values

    argument: Any
    for opcode, argument, _ in pickletools.genops(content):
        code = opcode.name
        if code in _VALUES:
            stack.append(argument)
        elif code in ("PUT", "BINPUT", "LONG_BINPUT"):
            memo[argument] = stack[-1]
        elif code == "MEMOIZE":
            memo[len(memo)] = stack[-1]
        elif code in ("GET", "BINGET", "LONG_BINGET"):
            stack.append(memo[argument])
        elif code == "MARK":
            marks.append(len(stack))
        elif code in _CONSTANTS:
            stack.append(_CONSTANTS[code])
        elif code in _TUPLES:
            marks.append(len(stack) - _TUPLES[code])
            stack.append(tuple(since_mark()))
        elif code == "TUPLE":
            stack.append(tuple(since_mark()))
        elif code in ("EMPTY_LIST", "EMPTY_DICT"):
            stack.append([] if code == "EMPTY_LIST" else {})
        elif code == "LIST":
            stack.append(since_mark())
        elif code == "DICT":
            stack.append(_pairs(since_mark()))
        elif code == "APPEND":
            value = stack.pop()
            stack[-1].append(value)
        elif code == "APPENDS":
            values = since_mark()
            stack[-1].extend(values)
        elif code == "SETITEM":
            item, key = stack.pop(), stack.pop()
            stack[-1].update(_pairs([key, item]))
        elif code == "SETITEMS":
            values = since_mark()
            stack[-1].update(_pairs(values))
        elif code == "GLOBAL":
            module, name = argument.split(" ", 1)
            stack.append(_known(module, name, path))
        elif code == "STACK_GLOBAL":
            name, module = stack.pop(), stack.pop()
            stack.append(_known(module, name, path))
        elif code in ("REDUCE", "NEWOBJ"):
            arguments, maker = stack.pop(), stack.pop()
            stack.append(_make(maker, arguments, path))
        elif code == "BUILD":
            state = stack.pop()
            stack[-1].state = state
        elif code not in _IGNORED:
            raise InputError(f"{path} holds the pickle instruction {code}: it is not read")
    return stack.pop()


def _pairs(values: list[Any]) -> dict[Any, Any]:
    # The hash of a tuple of tuples of … can take forever: no data file has such a key.
    if not all(type(key) in (int, str, bytes) for key in values[::2]):
        raise ValueError("a key is neither a number nor a word")
    return dict(zip(values[::2], values[1::2], strict=True))


def _known(module: str, name: str, path: Path) -> _Name:
    if type(module) is not str or type(name) is not str:
        raise ValueError("a name is not a word")
    named = _Name(module, name)
    if named not in _KNOWN:
        raise InputError(f"{path} names {module}.{name}, which no data file needs: it is not read")
    return named


def _make(maker: _Name, arguments: tuple[Any, ...], path: Path) -> Any:
    if type(maker) is not _Name:
        raise ValueError("what is called is not a name")
    if maker in _ARRAY_MAKERS:
        return _Unbuilt("array")
    if maker in _SCALAR_MAKERS:
        dtype, raw = arguments
        return np.frombuffer(_as_bytes(raw), dtype=_finish(dtype, path))[0].item()
    told = arguments[0] if arguments else None
    if maker in _MATRICES or (
        maker in _OBJECT_MAKERS and type(told) is _Name and told in _MATRICES
    ):
        return _Unbuilt("matrix")
    if maker == _DTYPE:
        return _Unbuilt("dtype", arguments)
    if maker in _DICTS:
        return {}
    if maker in _BYTES and (not arguments or arguments[1] == "latin1"):
        return arguments[0].encode("latin1") if arguments else b""
    raise InputError(f"{path} calls {'.'.join(maker)}, which no data file needs: it is not read")


def _finish(value: Any, path: Path) -> Any:
    if not isinstance(value, _Unbuilt):
        return value
    if value.kind == "dtype":
        order = value.state[1].replace("|", "=")
        dtype = np.dtype(order + value.arguments[0])
        if dtype.kind not in "iufb":
            raise InputError(f"{path} holds an array of {dtype}, not of numbers: it is not read")
        return dtype
    if value.kind == "array":
        _, shape, dtype, by_column, raw = value.state
        flat = np.frombuffer(_as_bytes(raw), dtype=_finish(dtype, path))
        check_shape(shape, flat.dtype, flat.nbytes, f"{path}: an array")
        return flat.reshape(shape, order="F" if by_column else "C")
    state = value.state
    parts = [_finish(state[key], path) for key in ("data", "indices", "indptr")]
    return csr_from_parts(parts, state.get("_shape", state.get("shape")), str(path))


def _as_bytes(raw: str | bytes) -> bytes:
    """Return a string that Python 2 wrote as bytes; the disassembler returns text."""
    return raw.encode("latin1") if isinstance(raw, str) else raw


PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
VALIDATION = 500  # nodes after the training nodes, in the public split

Array = np.ndarray[Any, Any]


def planetoid_file(path: Path) -> Path | None:
    """Return ``ind.NAME.graph`` if `path` is a file of a planetoid graph, or its folder."""
    if path.is_dir():
        found = sorted(path.glob("ind.*.graph"))
        if len(found) > 1:
            raise InputError(
                f"{path} contains {len(found)} planetoid graphs: give one file, such as {found[0]}"
            )
        return found[0] if found else None
    named = path.name.split(".")
    if len(named) < 3 or named[0] != "ind" or not path.name.endswith(PARTS):
        return None
    return path.with_name(f"ind.{named[1]}.graph")


def read_planetoid(path: Path, how: Reading | None = None) -> NodeGraph:
    """Read ``ind.NAME.graph`` and the seven files beside it, with the public split.

    The files are pickles, but none is loaded: see :mod:`augcl.data.planetoid`. Test nodes that
    the files leave out (15 in CiteSeer) have features 0 and no class.

    Parameters
    ----------
    path : Path
        ``ind.NAME.graph``, or its folder.
    how : Reading, optional
        What becomes of missing features.
    """
    graph_file = planetoid_file(Path(path))
    if graph_file is None:
        raise InputError(f"{path} contains no planetoid graph: give files ind.NAME.x, ind.NAME.y …")
    prefix = graph_file.name.removesuffix("graph")
    files = {part: graph_file.with_name(f"{prefix}{part}") for part in PARTS}
    for file in files.values():
        if not file.is_file():
            raise InputError(
                f"{file} is missing: a planetoid graph needs all of {', '.join(PARTS)}"
            )
    train, known, tested = (_classes(files[part]) for part in ("y", "ally", "ty"))
    features, test_features = (_features(files[part]) for part in ("allx", "tx"))
    test = _test_index(files["test.index"], len(tested))
    if features.shape[0] != len(known) or test_features.shape[0] != len(tested):
        raise InputError(f"{graph_file.parent}: features and classes of {prefix}* differ in length")
    if features.shape[1] != test_features.shape[1]:
        raise InputError(f"{files['tx']} has another number of features than {files['allx'].name}")
    num_nodes = max(len(known), int(test.max(initial=-1)) + 1)
    if num_nodes > 2 * (len(known) + len(tested)):
        raise InputError(
            f"{files['test.index']} names node {num_nodes - 1}, but the other files have "
            f"{len(known) + len(tested)} nodes: get it again"
        )
    y = np.full(num_nodes, -1)
    y[: len(known)], y[test] = known, tested
    x = _in_order(features, test_features, test, num_nodes)
    missing = "error" if how is None else how.missing
    with mistakes_in(graph_file):
        filled, columns = known_numbers(x, None, missing, "node {}, counted from 0".format)
        return NodeGraph.from_arrays(
            pairs=_edges(graph_file),
            num_nodes=num_nodes,
            x=filled,
            columns=columns,
            y=torch.from_numpy(y),
            splits=_public_split(len(train), len(known), test, num_nodes),
            name=prefix.split(".")[1],
        )


def _in_order(features: Any, test_features: Any, test: Array, num_nodes: int) -> Any:
    """Return the rows of all nodes: first the known nodes, then row k of the tests at test[k]."""
    both = vstack([features, test_features], format="coo")
    place = np.concatenate([np.arange(features.shape[0]), test])
    parts = (both.data, (place[both.row], both.col))
    return csr_array(parts, shape=(num_nodes, features.shape[1]))


def _public_split(train: int, known: int, test: Array, num_nodes: int) -> Splits:
    node = np.arange(num_nodes)
    validation = (node >= train) & (node < min(train + VALIDATION, known))
    masks = (node < train, validation, np.isin(node, test))
    return Splits(*(torch.from_numpy(mask).unsqueeze(0) for mask in masks))


def _features(file: Path) -> Any:
    found = read_plain_pickle(file)
    if not isinstance(found, np.ndarray | csr_array) or found.ndim != 2:
        raise InputError(f"{file} contains no matrix of features")
    return csr_array(found)


def _classes(file: Path) -> Array:
    """Return (n,) the column of the 1 in each row, −1 if there is none."""
    table = read_plain_pickle(file)
    if not isinstance(table, np.ndarray) or table.ndim != 2:
        raise InputError(f"{file} contains no one-hot classes")
    return np.where(table.any(axis=1), table.argmax(axis=1), -1)


def _test_index(file: Path, count: int) -> Array:
    try:
        index = np.array(read_text(file).split(), np.int64)
    except (OSError, ValueError, OverflowError):
        raise InputError(f"{file} must hold one whole number per line") from None
    if len(index) != count or len(np.unique(index)) != count or index.min(initial=0) < 0:
        raise InputError(f"{file} must list the {count} test nodes of ty, each once")
    return index


def _edges(file: Path) -> Tensor:
    neighbours = read_plain_pickle(file)
    try:
        if not all(type(end) is int for ends in neighbours.values() for end in ends):
            raise TypeError  # a list of lists of … can take forever
        counts = [len(ends) for ends in neighbours.values()]
        source = np.repeat(np.array(list(neighbours), np.int64), counts)
        target = np.array([end for ends in neighbours.values() for end in ends], np.int64)
    except (AttributeError, TypeError, ValueError, OverflowError):
        raise InputError(f"{file} contains no dict of the neighbours of each node") from None
    return torch.from_numpy(np.stack([source, target]))
