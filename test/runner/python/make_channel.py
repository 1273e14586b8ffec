"""Makes a channel of conda in a folder: python, which is this one, pip, which is empty, and two versions of greeter.

Usage: make_channel.py FOLDER
"""

import hashlib
import io
import json
import os
import platform
import sys
import tarfile

folder = sys.argv[1]
version = ".".join(map(str, sys.version_info[:3]))
system = {"x86_64": "linux-64", "aarch64": "linux-aarch64"}[platform.machine()]
executable = os.path.realpath(sys.executable)
# This interpreter takes the environment for its own by this file, as in a venv.
venv = f"home = {os.path.dirname(executable)}\ninclude-system-site-packages = false\nversion = {version}\n"


def main():
    with open(executable, "rb") as file:
        program = file.read()
    site = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    python = {"bin/python": program, "pyvenv.cfg": venv.encode(), f"{site}/README.txt": b"packages\n"}
    channel = {system: [package(system, "python", version, python)]}
    greeters = {"1.0": "Hello", "2.0": "Welcome"}
    channel["noarch"] = [package("noarch", "pip", "1.0", {"site-packages/pip.py": b"\n"})]
    for number, word in greeters.items():
        code = f"def greet(name):\n    return f'{word}, {{name}}!'\n"
        channel["noarch"].append(package("noarch", "greeter", number, {"site-packages/greeter.py": code.encode()}))
    for subdir, packages in channel.items():
        with open(os.path.join(folder, subdir, "repodata.json"), "w") as file:
            json.dump({"info": {"subdir": subdir}, "packages": dict(packages), "packages.conda": {}}, file)


def package(subdir, name, number, files):
    """Writes a package and returns its name and entry in repodata.json."""
    is_noarch = subdir == "noarch"
    index = {"name": name, "version": number, "build": "0", "build_number": 0, "subdir": subdir}
    index["depends"] = ["python"] if is_noarch else []
    if is_noarch:
        index["noarch"] = "python"
    paths = [{"_path": path, "path_type": "hardlink", "sha256": sha256(data), "size_in_bytes": len(data)}
             for path, data in files.items()]
    info = {"info/index.json": index, "info/paths.json": {"paths_version": 1, "paths": paths}}
    if is_noarch:
        info["info/link.json"] = {"noarch": {"type": "python"}, "package_metadata_version": 1}
    lines = "".join(f"{path}\n" for path in files).encode()
    encoded = {path: json.dumps(value).encode() for path, value in info.items()}
    archive = f"{name}-{number}-0.tar.bz2"
    os.makedirs(os.path.join(folder, subdir), exist_ok=True)
    target = os.path.join(folder, subdir, archive)
    with tarfile.open(target, "w:bz2") as tar:
        for path, data in {**files, **encoded, "info/files": lines}.items():
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(data), 0o755 if path.startswith("bin/") else 0o644
            tar.addfile(member, io.BytesIO(data))
    with open(target, "rb") as file:
        data = file.read()
    md5 = hashlib.md5(data).hexdigest()
    return archive, {**index, "md5": md5, "sha256": sha256(data), "size": len(data)}


def sha256(data):
    return hashlib.sha256(data).hexdigest()


main()
