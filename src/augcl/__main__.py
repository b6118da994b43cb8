"""The command line: `augcl`, or `python -m augcl` where that is not on the path."""

import signal

# Until `main` listens, Ctrl-C ends the process without a traceback of imports.
listening = signal.getsignal(signal.SIGINT) is signal.default_int_handler
if listening:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from augcl.cli.main import main  # noqa: E402

if listening:
    signal.signal(signal.SIGINT, signal.default_int_handler)

if __name__ == "__main__":
    main()
