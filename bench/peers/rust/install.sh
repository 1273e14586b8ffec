#!/usr/bin/env bash
# Builds the Rust contender from its pinned lock file; needs cargo and its registry, and some ten minutes. It goes to
# bench/.venv/rust, which git ignores.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
mkdir -p ../../.venv/rust
cargo build --release --locked --target-dir ../../.venv/rust/target
cp ../../.venv/rust/target/release/server ../../.venv/rust/server
echo "built bench/.venv/rust/server"
