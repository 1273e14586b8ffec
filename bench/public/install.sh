#!/usr/bin/env bash
# Makes what bench/public needs in bench/.venv, which git ignores: tools of Go, environments of Python, servers.
#
#   bench/public/install.sh GRPC_BENCH      # a clone of github.com/LesnyRumcajs/grpc_bench
#
# Needs go 1.24 or later, cargo, protoc and python3.11. Ten minutes.
set -euo pipefail
greeter="$(cd "$1/scenarios/complex_proto" && pwd)"
cd "$(dirname "${BASH_SOURCE[0]}")"
venv="$(mkdir -p ../.venv && cd ../.venv && pwd)"

cp "$greeter/helloworld.proto" "$greeter/payload" "$venv/"
protoc -I "$greeter" --include_imports --descriptor_set_out="$venv/helloworld.protoset" helloworld.proto

export GOBIN="$venv/tools" GOFLAGS=-mod=mod
go install go.k6.io/k6@v1.8.1
go install github.com/tsenart/vegeta/v12@v12.13.0
go install github.com/bojand/ghz/cmd/ghz@v0.93.0
go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.11
go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.5.1

rm -rf "$venv/grpc-go" && cp -r go "$venv/grpc-go"
mkdir -p "$venv/grpc-go/proto"
PATH="$GOBIN:$PATH" protoc -I "$greeter" --go_out="$venv/grpc-go" --go-grpc_out="$venv/grpc-go" helloworld.proto
(cd "$venv/grpc-go" && go get google.golang.org/grpc@v1.78.0 && go build -o server .)

GREETER="$greeter" cargo build --release --manifest-path rust/Cargo.toml --target-dir "$venv/tonic"

"${PYTHON:-python3.11}" -m venv "$venv/public"
"$venv/public/bin/pip" install --quiet --requirement python/requirements-litserve.txt
"${PYTHON:-python3.11}" -m venv "$venv/public-mlserver"
"$venv/public-mlserver/bin/pip" install --quiet --requirement python/requirements-mlserver.txt
"${PYTHON:-python3.11}" -m venv "$venv/public-kserve"
"$venv/public-kserve/bin/pip" install --quiet --requirement python/requirements-kserve.txt
"$venv/public-mlserver/bin/python" iris/train.py
