#!/usr/bin/env bash
# Installs Bun, Deno and workerd into a folder: `BUN`, `DENO` and `WORKERD` name their programs for test/io.
set -euo pipefail
cd "$1"
echo '{ "private": true }' >package.json
npm install --no-audit --no-fund bun@1.4.5 deno@2.9.6 workerd@1.20261117.1
