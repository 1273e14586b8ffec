#!/usr/bin/env bash
# Makes the environments of the Python contenders, from pinned requirements; needs python3.11 and pip.
# They go to BENCH_PYTHON, or to bench/.venv, which git ignores.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
target="${BENCH_PYTHON:-$here/../../.venv}"
for peer in bentoml fastapi litserve mlserver texts triton; do
  "${PYTHON:-python3.11}" -m venv "$target/$peer"
  "$target/$peer/bin/pip" install --quiet --requirement "$here/requirements-$peer.txt"
done
echo "installed in $target"
