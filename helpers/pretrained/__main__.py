"""The command line of ``helpers.pretrained.store``."""

import sys

from helpers.pretrained.store import main

sys.exit(main())
