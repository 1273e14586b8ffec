# Builds and runs the Iris example. For a service of your own: copy its folder in place of examples/iris and name its
# file in CMD.
#
#   docker build -t iris .
#   docker run --read-only --tmpfs /tmp -p 3000:3000 iris

# The full image has what the native add-on needs: g++, make, Python, and Node's headers beside its executable.
FROM node:24-trixie AS builder
WORKDIR /app
COPY package.json package-lock.json ./
# No install scripts here: no dependency needs its own, and ours come below, when their sources are there.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY native native
RUN node native/build.mjs --force && test -f native/build/Release/serving_native.node
COPY tsconfig.json tsconfig.build.json ./
COPY proto proto
COPY src src
RUN npm run build
COPY examples examples
# The example validates with zod, which the framework itself has for its tests only: it moves to the example before they
# go.
RUN mkdir -p examples/node_modules \
 && cp -r node_modules/zod examples/node_modules/zod \
 && npm prune --omit=dev --ignore-scripts --no-audit --no-fund
# The engine's binaries for other systems and versions of Node: 110 MB.
RUN find node_modules/uWebSockets.js* -name 'uws_*.node' \
  ! -name "uws_linux_$(node -p process.arch)_$(node -p process.versions.modules).node" -delete

FROM node:24-trixie-slim
ENV NODE_ENV=production
WORKDIR /app
COPY package.json LICENSE* ./
COPY --from=builder /app/node_modules node_modules
COPY --from=builder /app/native/build/Release/serving_native.node native/build/Release/
COPY --from=builder /app/native/build/Release/serving_image.node native/build/Release/
COPY --from=builder /app/dist dist
COPY --from=builder /app/examples examples
# By number, so that an orchestrator can see that it is not root. Nothing below /app is written.
USER 1000:1000
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", \
    "fetch(`http://127.0.0.1:${process.env.SERVING_PORT || 3000}/readyz`).then((r) => process.exit(r.ok ? 0 : 1))"]
# No shell and no npm between: SIGTERM reaches the supervisor, which lets running requests finish.
CMD ["node", "dist/cli/main.js", "serve", "examples/iris/service.ts"]
