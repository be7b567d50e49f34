import os
import subprocess
import sys

from . import find_binary

if __name__ == "__main__":
    command = [find_binary(), *sys.argv[1:]]
    if sys.platform == "win32":
        sys.exit(subprocess.run(command).returncode)
    os.execv(command[0], command)
