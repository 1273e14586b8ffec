"""Makes an environment with packages, once, and prints the path of its Python.

Usage: make_environment.py FOLDER '{"packages": [...]}' or '{"channels": [...], "dependencies": [...]}'
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys


def main():
    folder, spec = sys.argv[1], json.loads(sys.argv[2])
    identity = [sys.version, os.path.realpath(sys.executable), spec]
    key = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:32]
    home = os.path.join(folder, key)
    python = os.path.join(home, "bin", "python")
    complete = os.path.join(home, "serving-complete")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    # Held until this process ends, however it does.
    lock = open(os.path.join(folder, key + ".lock"), "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    if not os.path.exists(complete):
        # Of an attempt that was broken off.
        shutil.rmtree(home, ignore_errors=True)
        for command in commands(spec, home, python):
            # Told in the log meanwhile.
            print(" ".join(command[:4]), file=sys.stderr, flush=True)
            # Only the path goes to standard output.
            code = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr).returncode
            if code != 0:
                sys.exit(f"{' '.join(command[:3])} ended with code {code}")
        open(complete, "w").close()
    print(python)


def commands(spec, home, python):
    """Returns the commands that make the environment, one after the other."""
    if "packages" in spec:
        uv = shutil.which("uv")
        if uv:
            return [
                [uv, "venv", "--quiet", "--python", sys.executable, home],
                [uv, "pip", "install", "--python", python, *spec["packages"]],
            ]
        pip = ["-m", "pip", "install", "--progress-bar", "off", "--disable-pip-version-check", "--no-input"]
        return [[sys.executable, "-m", "venv", home], [python, *pip, *spec["packages"]]]
    conda = next(filter(None, map(shutil.which, ("micromamba", "mamba", "conda"))), None)
    if conda is None:
        sys.exit("packages of conda need micromamba, mamba or conda on the PATH, and none is there")
    # As in a bentofile.yaml.
    named = spec.get("channels") or ["conda-forge"]
    channels = [part for channel in named if channel != "nodefaults" for part in ("--channel", channel)]
    if "nodefaults" in named:
        # A word of environment.yml, which commands take for the name of a channel.
        channels.append("--override-channels")
    names = spec["dependencies"]
    if not any(name.split("=")[0].strip(" <>!") == "python" for name in names):
        names = ["python", *names]
    return [[conda, "create", "--yes", "--quiet", "--prefix", home, *channels, *names]]


main()
