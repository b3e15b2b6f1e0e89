"""`python -m recollect.interfaces.cli`: the command line of this very Python."""

from recollect.interfaces.cli import main

main()
