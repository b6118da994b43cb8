"""Reproduce the paper: its tables, its figures, and the results pages in docs/.

`reproductions` lists what `augcl reproduce` can compute; `rows` has the rows of every table.
"""
