"""What tests of methods share."""

import pytest

import references


@pytest.fixture(scope="package")
def graph():
    """90 nodes in three classes, which edges and features tell."""
    return references.communities()
