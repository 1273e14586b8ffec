# Builds and runs the Iris example. For a service of your own: copy its folder in place of examples/iris and name its
# file in `build`.
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
# The service with the packages that it needs, without compilers and the engine's binaries for other systems.
RUN node dist/cli/main.js build examples/iris/service.ts --out /build

FROM node:24-trixie-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=builder /build .
# By number, so that an orchestrator can see that it is not root. Nothing below /app is written.
USER 1000:1000
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", \
    "fetch(`http://127.0.0.1:${process.env.SERVING_PORT || 3000}/readyz`).then((r) => process.exit(r.ok ? 0 : 1))"]
# No shell and no npm between: SIGTERM reaches the supervisor, which lets running requests finish.
CMD ["node", "main.js"]
