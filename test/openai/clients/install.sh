#!/usr/bin/env bash
# Installs clients of OpenAI's API into a folder, for test/openai/clients.test.ts, which `OPENAI_CLIENTS` tells it.
set -euo pipefail
cd "$1"
echo '{ "private": true, "type": "module" }' >package.json
npm install --no-audit --no-fund --ignore-scripts openai-6@npm:openai@6 openai-7@npm:openai@7 \
  ai@7 @ai-sdk/openai@4 @langchain/openai@1 @langchain/core@1 zod@4
python3 -m venv venv
venv/bin/pip install --quiet openai langchain-openai llama-index-llms-openai-like llama-index-embeddings-openai-like \
  litellm instructor
