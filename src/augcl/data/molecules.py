"""Molecules: SMILES become graphs of atoms and bonds, by RDKit."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from augcl.data.csv_folder import targets_of_graphs
from augcl.data.graph import GraphSet
from augcl.data.table import Table, read_header
from augcl.data.targets import Reading
from augcl.errors import InputError, mistakes_in, need, warn_user

# fmt: off
ELEMENTS = (
    "H", "B", "C", "N", "O", "F", "Na", "Mg", "Al", "Si", "P", "S", "Cl",
    "K", "Ca", "Ti", "V", "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ge", "As",
    "Se", "Br", "Zr", "Ag", "Cd", "Sn", "Sb", "I", "Pt", "Au", "Hg", "Pb", "Bi",
)
# fmt: on
"""Elements with a column of their own; all others share the column "element=other"."""

TABLES_OF_GRAPHS = ("edges", "nodes", "graphs")
BONDS = ("single", "double", "triple", "aromatic")
ATOM_COLUMNS = [
    *(f"element={symbol}" for symbol in (*ELEMENTS, "other")),
    "charge",
    "aromatic",
    "hydrogens",
    "ring",
]
BOND_COLUMNS = [*(f"order={kind}" for kind in BONDS), "conjugated", "ring"]


def from_smiles(
    smiles: Sequence[str],
    y: Any = None,
    *,
    names: Sequence[str] | None = None,
    skip_bad: bool = False,
    name: str = "molecules",
) -> GraphSet:
    """Turn SMILES into graphs: atoms are nodes, bonds are edges, hydrogens are counted.

    The columns are the same for every list, so that a model trained on one embeds another.

    Parameters
    ----------
    smiles : sequence of str
        One molecule each. Needs RDKit: ``pip install augcl[molecules]``.
    y : (n,) or (n, T) numbers, optional
        Whole numbers from 0 on are classes; fractions, NaN or several columns are targets.
    names : sequence of str, optional
        What you call each molecule; the SMILES if None.
    skip_bad : bool
        Leave out what RDKit refuses, with a warning that names it, instead of raising `InputError`.
    name : str
        Name of the data set.

    Returns
    -------
    GraphSet
        `x` holds element (one-hot), charge, aromatic, hydrogens and ring of each atom, `edge_attr`
        order (one-hot), conjugated and ring of each bond, `smiles` the text of each molecule.

    Examples
    --------
    >>> ethanol, benzene = from_smiles(["CCO", "c1ccccc1"])
    >>> ethanol.num_nodes, benzene.edge_attr.shape
    (3, torch.Size([12, 6]))
    """
    if isinstance(smiles, str):
        raise InputError(f"smiles is one text ({smiles!r}): give a list, [{smiles!r}]")
    texts = [str(text).strip() for text in smiles]
    kept, found = _molecules(texts, skip_bad, lambda i: f"number {i + 1}")
    targets = None if y is None else _targets(y, len(texts))[kept]
    called = texts if names is None else [str(one) for one in names]
    return _graphs(found, texts, kept, called, name, y=targets)


def read_molecules(path: str | os.PathLike[str], how: Reading | None = None) -> GraphSet:
    """Read molecules from a CSV or Parquet file with a column of SMILES.

    The column is called ``smiles`` (in any case), or as `how` says. A column ``name`` or ``id``
    holds names; ``label`` or ``y`` is the target, if `how` names no other.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "drugs.csv"
    >>> _ = file.write_text("smiles,logP\\nCCO,-0.1\\nc1ccccc1,2.1\\n")
    >>> graphs = read_molecules(file, Reading(target="logP"))
    >>> graphs.smiles, graphs.task, graphs.targets
    (['CCO', 'c1ccccc1'], 'regression', ['logP'])
    """
    file, told = Path(path), how or Reading()
    header = read_header(file)
    if told.smiles is None:
        column = next((name for name in header if name.lower() == "smiles"), None)
        if column is None:
            raise InputError(_no_smiles(file, header))
    else:
        column = told.smiles
    table = Table.read(file, ids=(column, "name", "id"))
    texts = table.strings(table.need(column))
    titles = next((name for name in ("name", "id") if name in header and name != column), None)
    called = texts if titles is None else table.strings(titles)
    but = [column, *([] if titles is None else [titles])]
    found = targets_of_graphs(table, told, but=but)
    with mistakes_in(file):
        kept, molecules = _molecules(texts, told.skip_bad, lambda i: table.at(i).split(", ")[-1])
        y = None if found.y is None else found.y[kept]
        parts = found._replace(y=y)._asdict()
        return _graphs(molecules, texts, kept, called, file.stem, **parts)


def _no_smiles(file: Path, header: Sequence[str]) -> str:
    """Return what to do with a table without a column smiles; most often it lists edges."""
    if file.stem in TABLES_OF_GRAPHS:
        return f"{file} is one table of a folder of graphs: give the folder, {file.parent}"
    return (
        f"{file} has no column smiles: name it with smiles= (--smiles) if these are molecules; is "
        f"it a list of edges? Save it in a folder of its own as edges{file.suffix}, with the "
        f"columns source and target, and give the folder. The columns are {', '.join(header)}"
    )


def _molecules(
    texts: Sequence[str], skip_bad: bool, place: Callable[[int], str]
) -> tuple[list[int], list[Any]]:
    """Return the numbers of the SMILES that RDKit takes, and the molecules; warn of the others."""
    molecules = [_molecule(text) for text in texts]
    bad = [i for i, molecule in enumerate(molecules) if molecule is None]
    if bad:
        said = ", ".join(f"{place(i)} ({texts[i]!r})" for i in bad[:5])
        said += f" and {len(bad) - 5} more" if len(bad) > 5 else ""
        what = f"RDKit refuses {len(bad)} of {len(texts)} SMILES: {said}"
        if not skip_bad:
            raise InputError(
                f"{what}; correct them, or leave them out with skip_bad=True (--skip-bad)"
            )
        warn_user(f"{what}; left out")
    kept = [i for i, molecule in enumerate(molecules) if molecule is not None]
    if not kept:
        raise InputError("there is no molecule to read: give at least one SMILES")
    return kept, [molecules[i] for i in kept]


def _graphs(
    found: list[Any],
    texts: Sequence[str],
    kept: list[int],
    called: Sequence[str],
    name: str,
    **more: Any,
) -> GraphSet:
    """Return the graphs of the molecules `found`, which are the `kept` ones of all."""
    counts = torch.tensor([molecule.GetNumAtoms() for molecule in found])
    starts = (counts.cumsum(0) - counts).tolist()
    atoms = [_atom(atom) for molecule in found for atom in molecule.GetAtoms()]
    bonds = [
        (start + bond.GetBeginAtomIdx(), start + bond.GetEndAtomIdx(), *_bond(bond))
        for start, molecule in zip(starts, found, strict=True)
        for bond in molecule.GetBonds()
    ]
    table = torch.tensor(bonds, dtype=torch.float64).reshape(len(bonds), 2 + len(BOND_COLUMNS))
    return GraphSet.from_arrays(
        pairs=table[:, :2].long().t().contiguous(),
        graph_of_node=torch.repeat_interleave(counts),
        num_graphs=len(found),
        x=torch.tensor(atoms),
        columns=ATOM_COLUMNS,
        edge_attr=table[:, 2:].float(),
        edge_columns=BOND_COLUMNS,
        names=[called[i] for i in kept],
        smiles=[texts[i] for i in kept],
        name=name,
        **more,
    )


def scaffold_groups(smiles: Sequence[str]) -> NDArray[np.int64]:
    """Number the Bemis–Murcko scaffolds of molecules, for splits that keep a scaffold together.

    Molecules without a ring share the empty scaffold.

    Examples
    --------
    >>> scaffold_groups(["Cc1ccccc1", "CCO", "Oc1ccccc1"]).tolist()
    [1, 0, 1]
    """
    _need_rdkit()
    from rdkit.Chem.Scaffolds import MurckoScaffold

    molecules = [_known(text, i) for i, text in enumerate(smiles)]
    scaffold: Any = MurckoScaffold.MurckoScaffoldSmiles
    scaffolds = [scaffold(mol=molecule) for molecule in molecules]
    return np.unique(scaffolds, return_inverse=True)[1].astype(np.int64)


def morgan_counts(smiles: Sequence[str], radius: int, width: int) -> NDArray[np.float32]:
    """(n, width) counts of the circular substructures of molecules, hashed to `width` columns."""
    _need_rdkit()
    from rdkit.Chem import rdFingerprintGenerator

    generator = rdFingerprintGenerator.GetMorganGenerator(radius=radius, fpSize=width)
    counts = [
        generator.GetCountFingerprintAsNumPy(_known(text, i)) for i, text in enumerate(smiles)
    ]
    return np.asarray(counts, dtype=np.float32).reshape(len(counts), width)


def _need_rdkit() -> Any:
    need("rdkit", "reading SMILES")
    from rdkit import Chem

    return Chem


def _molecule(text: str) -> Any:
    """The molecule of a SMILES; None if RDKit refuses it or it has no atom."""
    Chem = _need_rdkit()
    from rdkit import rdBase

    with rdBase.BlockLogs():  # it would print every refusal
        molecule = Chem.MolFromSmiles(text)
    return molecule if molecule is not None and molecule.GetNumAtoms() else None


def _known(text: str, place: int) -> Any:
    molecule = _molecule(text)
    if molecule is None:
        raise InputError(f"RDKit refuses SMILES number {place + 1}, {text!r}: correct it")
    return molecule


def _atom(atom: Any) -> list[float]:
    symbol = atom.GetSymbol()
    element = ELEMENTS.index(symbol) if symbol in ELEMENTS else len(ELEMENTS)
    values = [0.0] * len(ATOM_COLUMNS)
    values[element] = 1.0
    values[-4:] = [
        float(atom.GetFormalCharge()),
        float(atom.GetIsAromatic()),
        float(atom.GetTotalNumHs()),
        float(atom.IsInRing()),
    ]
    return values


def _bond(bond: Any) -> list[float]:
    kind = str(bond.GetBondType()).lower()
    return [
        *(float(kind == known) for known in BONDS),
        float(bond.GetIsConjugated()),
        float(bond.IsInRing()),
    ]


def _targets(y: Any, count: int) -> Tensor:
    """Classes (n,) int64, or targets (n,) or (n, T) float32 with NaN where one is not known."""
    values = y.cpu().numpy() if isinstance(y, Tensor) else np.asarray(y)
    if values.ndim not in (1, 2) or len(values) != count:
        raise InputError(f"y has shape {values.shape} for {count} SMILES: give one row per SMILES")
    if values.ndim == 1 and values.dtype.kind in "iub":
        return torch.from_numpy(values.astype(np.int64))
    return torch.from_numpy(values.astype(np.float32))
