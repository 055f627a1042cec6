"""The command line of ``helpers.pretrained.store``."""

import sys

from helpers.pretrained.store import main

if __name__ == "__main__":
    sys.exit(main())
