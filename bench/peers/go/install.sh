#!/usr/bin/env bash
# Builds the Go contender; needs go 1.22 or later, and no network. It goes to bench/.venv/go, which git ignores.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
mkdir -p ../../.venv/go
go build -o ../../.venv/go/server .
echo "built bench/.venv/go/server"
