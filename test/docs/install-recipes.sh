#!/usr/bin/env bash
# Installs what test/docs/recipes.test.ts needs into a folder. Without builds for graphics cards, which are much larger.
set -euo pipefail
cd "$1"
echo '{ "private": true }' >package.json
libc="$(node -p 'process.report.getReport().header.glibcVersionRuntime === undefined ? "musl" : "gnu"')"
arch="$(node -p process.arch)"
npm install --no-audit --no-fund --ignore-scripts --omit=optional \
  next@16.4.6 react@19 react-dom@19 typescript@5.9 @types/react@19 @types/node@20 "@next/swc-linux-$arch-$libc@16.4.6" \
  @huggingface/transformers@4.3.2 "@img/sharp-linux-$arch" "@img/sharp-libvips-linux-$arch" \
  node-llama-cpp@3.22.1 "@node-llama-cpp/linux-$arch@3.22.1"
