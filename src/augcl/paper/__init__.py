"""All that only reproduces the paper: its tables, figures and the page of results."""
