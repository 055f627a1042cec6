"""Make the environment that stands for Colab in the tests.

    python tests/notebooks/colab_environment.py .venv/colab

It has Colab's versions of what draws and what talks to the notebook. PyTorch is too large to be
installed twice: the environment finds that of the Python which runs this script, behind its own
packages.
"""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("colab-requirements.txt")
# Colab has Python 3.12 or 3.13; its versions have no builds for newer ones.
NEWEST = (3, 13)


def make(folder: Path) -> None:
    """Make the environment in a folder, anew if there is one already."""
    venv.create(folder, clear=True, with_pip=True, symlinks=os.name != "nt")
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "-r", REQUIREMENTS], check=True)
    purelib = "import sysconfig; print(sysconfig.get_path('purelib'))"
    own = subprocess.run([python, "-c", purelib], check=True, capture_output=True, text=True)
    # A .pth file adds its folder at the end of the path, so the environment's packages come first.
    (Path(own.stdout.strip()) / "course.pth").write_text(sysconfig.get_path("purelib") + "\n")


if __name__ == "__main__":
    if sys.version_info[:2] > NEWEST:
        sys.exit(print("No stand-in for Colab: its packages need Python 3.13 or older."))
    try:
        make(Path(sys.argv[1]))
    except subprocess.CalledProcessError as error:
        sys.exit(f"The stand-in for Colab was not made: {error}")
