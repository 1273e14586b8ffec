#!/usr/bin/env bash
# Installs clients of OpenAI's API and of MCP into a folder, which `AGENT_CLIENTS` tells the tests:
# test/openai/clients.test.ts and test/mcp/clients.test.ts.
set -euo pipefail
cd "$1"
echo '{ "private": true, "type": "module" }' >package.json
npm install --no-audit --no-fund --ignore-scripts openai-6@npm:openai@6.49.0 openai-7@npm:openai@7.59.0 \
  ai-6@npm:ai@6.0.326 ai-openai-6@npm:@ai-sdk/openai@3.0.141 \
  ai-7@npm:ai@7.0.173 ai-openai-7@npm:@ai-sdk/openai@4.0.118 \
  @langchain/openai@1.5.8 @langchain/core@1.4.0 @modelcontextprotocol/inspector@0.15.0 zod@4
python3 -m venv venv
# pip takes minutes to choose versions of these.
venv/bin/pip install --quiet uv
venv/bin/uv pip install --quiet --python venv/bin/python openai==2.54.0 langchain-openai==1.7.4 \
  llama-index-llms-openai-like==0.8.1 llama-index-embeddings-openai-like==0.4.0 litellm==1.110.2 instructor==1.17.0
# Beside them, as they want other versions of the same packages.
python3 -m venv venv-mcp
venv/bin/uv pip install --quiet --python venv-mcp/bin/python mcp==2.3.0 fastmcp==4.2.3
