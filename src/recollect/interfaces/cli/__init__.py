"""The command line: `recollect`."""

import sys

_INTERRUPTED = 130
"""The exit code of who was stopped with Ctrl-C."""


def main() -> None:
    try:
        from recollect.interfaces.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = _INTERRUPTED
    sys.exit(code)
