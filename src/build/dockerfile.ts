/**
 * The Dockerfile of a build.
 * @module
 */
import type { BuildOptions } from '../config/build-options.ts'

/** Returns the Dockerfile for a build whose folder is the context. */
export function dockerfileText({ docker = {}, python, conda }: BuildOptions, nodeMajor: string): string {
  const { baseImage, systemPackages = [], env = {}, setupScript } = docker
  const usesPip = (python?.packages ?? []).length > 0
  const packages = [...systemPackages, ...(usesPip ? ['python3', 'python3-venv'] : [])].sort()
  const variables = { NODE_ENV: 'production', ...env }
  return [
    '# Made by serving build; the context is the folder that it lies in.',
    ...(baseImage === undefined ? baseStages(nodeMajor) : [`FROM ${baseImage}`]),
    ...(packages.length === 0
      ? []
      : [
          'RUN apt-get update \\',
          ` && apt-get install -y --no-install-recommends ${packages.join(' ')} \\`,
          ' && rm -rf /var/lib/apt/lists/*',
        ]),
    ...Object.entries(variables).map(([name, value]) => `ENV ${name}=${JSON.stringify(value)}`),
    'WORKDIR /app',
    ...(usesPip
      ? [
          'COPY python/requirements.txt python/requirements.txt',
          'RUN python3 -m venv /opt/python && /opt/python/bin/pip install --no-cache-dir -r python/requirements.txt',
          'ENV PATH="/opt/python/bin:$PATH" SERVING_PYTHON=/opt/python/bin/python',
        ]
      : []),
    ...(conda === undefined
      ? []
      : ['COPY python/environment.yml python/environment.yml', 'RUN conda env create -f python/environment.yml']),
    ...(setupScript === undefined
      ? []
      : [`COPY ${setupScript} setup-script`, 'RUN chmod +x setup-script && ./setup-script']),
    'COPY . .',
    '# By number, so that an orchestrator can see that it is not root. Nothing below /app is written.',
    'USER 1000:1000',
    'EXPOSE 3000',
    'HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \\',
    '  CMD ["node", "-e", "fetch(\'http://127.0.0.1:\' + (process.env.SERVING_PORT || 3000) + \'/readyz\')' +
      '.then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]',
    'CMD ["node", "main.js"]',
    '',
  ].join('\n')
}

/** Debian with the node executable alone: npm, yarn and corepack of Node's image take 40 MB. */
function baseStages(nodeMajor: string): readonly string[] {
  return [
    `FROM node:${nodeMajor}-bookworm-slim AS node`,
    'FROM debian:bookworm-slim',
    'COPY --from=node /usr/local/bin/node /usr/local/bin/node',
  ]
}
