"""Morgan fingerprints are a method like all others, for graphs that know their SMILES."""

import numpy as np
import pytest

import augcl
from augcl import InputError, MorganFingerprints, load_model
from references import SMILES

rdkit = pytest.importorskip("rdkit", reason="optional: RDKit is not installed")


def test_counts_are_those_of_rdkit_one_molecule_after_the_other(drugs):
    from rdkit import Chem
    from rdkit.Chem import rdFingerprintGenerator

    generator = rdFingerprintGenerator.GetMorganGenerator(radius=1, fpSize=256)
    found = MorganFingerprints(radius=1, width=256).fit_transform(drugs)
    for row, smiles in zip(found, SMILES, strict=True):
        counts = generator.GetCountFingerprint(Chem.MolFromSmiles(smiles)).GetNonzeroElements()
        slow = np.zeros(256)
        for column, count in counts.items():
            slow[column] = count**0.5
        assert np.allclose(row, slow, atol=1e-6)


def test_a_molecule_has_the_same_row_beside_other_molecules(drugs):
    model = MorganFingerprints().fit(drugs)
    every = model.transform(drugs)
    assert np.array_equal(model.transform(drugs.select([3, 1])), every[[3, 1]])
    assert len(np.unique(every, axis=0)) == len(drugs)


def test_another_way_to_write_a_molecule_gives_the_same_row():
    first, second = MorganFingerprints().fit_transform(augcl.from_smiles(["CCO", "OCC"]))
    assert np.array_equal(first, second)


def test_it_is_saved_and_loaded(drugs, tmp_path):
    model = MorganFingerprints(width=64).fit(drugs)
    model.save(tmp_path)
    again = load_model(tmp_path)
    assert type(again) is MorganFingerprints
    assert np.array_equal(again.transform(drugs), model.transform(drugs))
    assert len(again.get_feature_names_out()) == 64


def test_graphs_without_smiles_are_refused(molecules):
    with pytest.raises(InputError, match="MUTAG holds no SMILES: MorganFingerprints reads"):
        MorganFingerprints().fit(molecules)


@pytest.mark.parametrize("wrong", [{"width": 0}, {"radius": -1}, {"width": 2.5}])
def test_settings_that_make_no_sense_are_refused(drugs, wrong):
    (name,) = wrong
    with pytest.raises(InputError, match=f"^{name} is"):
        MorganFingerprints(**wrong).fit(drugs)
