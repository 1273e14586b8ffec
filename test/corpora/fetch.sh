#!/usr/bin/env bash
# Brings the public corpora that the tests of this folder run over where they are there; data only, nothing is run.
#
#   test/corpora/fetch.sh [folder]   # default: test/corpora/public, where the tests look, or else in $SERVING_CORPORA
set -euo pipefail
folder="${1:-$(dirname "${BASH_SOURCE[0]}")/public}"

# name, repository, commit, licence, the folders that the tests read
bring() {
  local name="$1" source="$2" commit="$3" licence="$4"
  shift 4
  [ -e "$folder/$name" ] && return
  echo "$name: $source at $commit, $licence"
  local clone="$folder/.$name.part"
  rm -rf "$clone"
  git clone --quiet --no-checkout --filter=blob:none --sparse "$source" "$clone"
  git -C "$clone" sparse-checkout set "$@"
  git -C "$clone" -c advice.detachedHead=false checkout --quiet "$commit"
  mv "$clone" "$folder/$name"
}

mkdir -p "$folder"
bring JSONTestSuite https://github.com/nst/JSONTestSuite 1ef36fa01286573e846ac449e8683f8833c5b26a MIT test_parsing
bring parquet-testing https://github.com/apache/parquet-testing 1a2a75127be06fc0123f03ebd36c966f7beda27d Apache-2.0 \
  data bad_data shredded_variant variant
bring parse-number-fxx-test-data https://github.com/nigeltao/parse-number-fxx-test-data \
  55d79b184b7d8fac2e143e89dc19b766ec4e54b8 Apache-2.0 data
# Willem van Schaik's pictures: free to use, copy, modify and distribute for any purpose.
bring pngsuite https://github.com/lunapaint/pngsuite 8cd768dd0d0063195174d0d01cacbd5a7d1e5605 "PngSuite's own" png
bring numpy https://github.com/numpy/numpy 1f90bbb55e65e7de68921bc3f1a2d94492fdf689 BSD-3-Clause numpy/lib/tests/data
