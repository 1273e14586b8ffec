/** The Dockerfile of a build. @module */
import type { DockerOptions } from '../config/build-options.ts'
import type { PythonEnvironment } from './python-environment.ts'

/** @returns the Dockerfile for a build whose folder is the context. */
export function dockerfileText(docker: DockerOptions = {}, python: PythonEnvironment): string {
  const { baseImage, systemPackages = [], env = {}, setupScript } = docker
  const usesConda = python.conda !== undefined
  const usesPip = !usesConda && python.packages.length > 0
  const packages = [...systemPackages, ...(usesPip ? ['python3', 'python3-venv'] : [])]
    .sort()
    .join(' ')
  const variables = { NODE_ENV: 'production', ...env }
  const lines = [
    '# Made by serving build; the context is the folder that it lies in.',
    usesConda && condaStage,
    baseImage === undefined ? baseStages : `FROM ${baseImage}`,
    packages !== '' && installText(packages),
    ...Object.entries(variables).map(([name, value]) => `ENV ${name}=${JSON.stringify(value)}`),
    'WORKDIR /app',
    usesPip && pipText,
    usesConda && 'COPY --from=conda /opt/python /opt/python',
    (usesConda || usesPip) &&
      'ENV PATH="/opt/python/bin:$PATH" SERVING_PYTHON=/opt/python/bin/python',
    setupScript !== undefined &&
      `COPY ${setupScript} setup-script\nRUN chmod +x setup-script && ./setup-script`,
    'COPY . .',
    '# By number, so that an orchestrator can see that it is not root. Nothing below /app is written.',
    'USER 1000:1000',
    'EXPOSE 3000',
    'HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \\',
    '  CMD ["node", "-e", "fetch(\'http://127.0.0.1:\' + (process.env.SERVING_PORT || 3000) + \'/readyz\')' +
      '.then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]',
    'CMD ["node", "main.js"]',
    '',
  ]
  return lines.filter((line) => line !== false).join('\n')
}

const installText = (packages: string) => `RUN apt-get update \\
 && apt-get install -y --no-install-recommends ${packages} \\
 && rm -rf /var/lib/apt/lists/*`

const pipText = `COPY python/requirements.txt python/requirements.txt
RUN python3 -m venv /opt/python && /opt/python/bin/pip install --no-cache-dir -r python/requirements.txt`

// The environment alone is copied: any base image with glibc will do, and has no conda in it.
const condaStage = `FROM mambaorg/micromamba:bookworm-slim AS conda
USER root
COPY python/environment.yml /tmp/environment.yml
RUN micromamba create --yes --prefix /opt/python --file /tmp/environment.yml && micromamba clean --all --yes`

/** Debian 13, whose glibc the newest engine needs, with the node executable alone: npm and corepack take 40 MB. */
const baseStages = `FROM node:24-trixie-slim AS node
FROM debian:trixie-slim
COPY --from=node /usr/local/bin/node /usr/local/bin/node`
