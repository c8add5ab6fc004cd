"""`python -m assistant_events`: the command line, which prints what to install when its extra is missing."""

import sys


def _main() -> int:
    from assistant_events.cli.entry_point import main

    return main()


if __name__ == "__main__":  # pragma: no branch - an import has no effect
    sys.exit(_main())
