import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { folder, root, run } from './process.ts'

it('prints manifests of what serving build wrote, and says what is wrong', async () => {
  const project = folder({})
  const built = join(project, 'out')
  const { code, stderr } = await run([
    'build',
    join(root, 'examples/iris/service.ts'),
    '--out',
    built,
  ])
  expect([code, stderr]).toEqual([0, ''])

  const flags = ['--workers', '2', '--replicas', '3', '--image', 'registry.example/iris:7']
  const deployed = await run(['deploy', built, '--print', 'kubernetes', ...flags])
  expect(deployed.stderr).toBe('')
  const [deployment, , scaler] = parseAllDocuments(deployed.stdout).map((document) =>
    document.toJS(),
  )
  expect(deployment).toMatchObject({
    kind: 'Deployment',
    metadata: { name: 'iris-classifier' },
    spec: { template: { spec: { containers: [{ image: 'registry.example/iris:7' }] } } },
  })
  expect(scaler.spec).toMatchObject({ minReplicas: 3, maxReplicas: 3 })

  const kserve = await run(['deploy', built, '--print', 'kserve'])
  expect(kserve.stdout).toContain('kind: InferenceService\n')

  const wrong: [string[], string][] = [
    [['deploy', built], "required option '--print <platform>' not specified"],
    [['deploy', built, '--print', 'nomad'], 'Allowed choices are kubernetes, kserve'],
    [
      ['deploy', built, '--print', 'kserve', '--replicas', '5-2'],
      'replicas 5-2: the most come second, as in 2-10',
    ],
    [
      ['deploy', built, '--print', 'kserve', '--workers', '0'],
      "argument '0' is invalid. Expected a whole number from 1 up.",
    ],
    [['deploy', project, '--print', 'kserve'], 'has no build: run serving build first'],
    [['containerize', project], 'has no build: run serving build first'],
    [['containerize', built, '--with', 'kaniko'], 'Allowed choices are docker, podman, buildah'],
  ]
  for (const [args, message] of wrong) {
    const failed = await run(args)
    expect([failed.code === 0, failed.stderr]).toEqual([false, expect.stringContaining(message)])
  }
})

it('hands the folder to the program that makes images', async () => {
  const built = join(folder({}), 'out')
  mkdirSync(built)
  writeFileSync(join(built, 'Dockerfile'), 'FROM scratch\n')
  const manifest = { service: { name: 'Größe 1' }, runners: [], remoteRunners: [] }
  writeFileSync(join(built, 'manifest.json'), JSON.stringify(manifest))
  writeFileSync(join(built, 'serving.config.json'), '{}')
  writeFileSync(join(built, 'package.json'), JSON.stringify({ version: '2.0.0+a' }))
  // A program of that name which prints its arguments: none of the real ones is on every machine.
  const bin = folder({})
  writeFileSync(join(bin, 'podman'), '#!/bin/sh\necho "$@"\n[ "$1" != build ] || exit $FAIL\n', {
    mode: 0o755,
  })
  const env = { PATH: `${bin}:/bin:/usr/bin`, FAIL: '0' }
  const made = await run(['containerize', built, '--with', 'podman', '--', '--pull-never'], { env })
  expect(made.stderr).toContain(`build --format docker --tag gr-e-1:2.0.0-a --pull-never ${built}`)
  expect(made.stdout).toContain(
    'run it: podman run --read-only --tmpfs /tmp --publish 3000:3000 gr-e-1:2.0.0-a',
  )
  const failed = await run(['containerize', built, '--with', 'podman'], {
    env: { ...env, FAIL: '3' },
  })
  expect([failed.code, failed.stderr]).toEqual([
    1,
    expect.stringContaining('podman ended with code 3'),
  ])
})
