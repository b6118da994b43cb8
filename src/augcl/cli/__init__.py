"""The command line, one file a command."""

import gc

# A command makes many objects and hardly any cycles: by default Python looks for cycles so often
# that `augcl --help` takes a fifth longer.
gc.set_threshold(50_000, 20, 100)
