"""Molecules: SMILES become graphs of atoms and bonds, by RDKit."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from augcl.data.graph import GraphSet
from augcl.errors import InputError, need

# fmt: off
ELEMENTS = (
    "H", "B", "C", "N", "O", "F", "Na", "Mg", "Al", "Si", "P", "S", "Cl",
    "K", "Ca", "Ti", "V", "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ge", "As",
    "Se", "Br", "Zr", "Ag", "Cd", "Sn", "Sb", "I", "Pt", "Au", "Hg", "Pb", "Bi",
)
# fmt: on
"""Elements with a column of their own; all others share the column "element=other"."""

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
    molecules = [_molecule(text) for text in texts]
    bad = [i for i, molecule in enumerate(molecules) if molecule is None]
    if bad:
        said = ", ".join(f"number {i + 1} ({texts[i]!r})" for i in bad[:5])
        said += f" and {len(bad) - 5} more" if len(bad) > 5 else ""
        what = f"RDKit refuses {len(bad)} of {len(texts)} SMILES: {said}"
        if not skip_bad:
            raise InputError(f"{what}; correct them, or leave them out with skip_bad=True")
        warnings.warn(f"{what}; left out", stacklevel=2)
    kept = [i for i, molecule in enumerate(molecules) if molecule is not None]
    if not kept:
        raise InputError("there is no molecule to read: give at least one SMILES")
    found = [molecules[i] for i in kept]
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
        y=None if y is None else _targets(y, len(texts))[kept],
        names=[(texts if names is None else [str(one) for one in names])[i] for i in kept],
        smiles=[texts[i] for i in kept],
        name=name,
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
