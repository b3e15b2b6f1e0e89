"""The command line: `recollect`."""

import sys


def main() -> None:
    from recollect.interfaces.cli.app import run

    sys.exit(run(sys.argv[1:]))
