"""`python -m tb_gradhealth`, and the `tb-gradhealth` command."""

import sys

from tb_gradhealth.report.cli import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
