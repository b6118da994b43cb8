"""Contrastive methods: views plus loss, one file each."""

from augcl.methods.graphcl import GraphCL

__all__ = ["GraphCL"]
