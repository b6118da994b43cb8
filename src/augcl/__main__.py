"""`python -m augcl`: the command line, where the script `augcl` is not on the path."""

from augcl.cli.main import main

if __name__ == "__main__":
    main()
