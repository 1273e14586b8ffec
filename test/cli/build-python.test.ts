import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folder, run } from './process.ts'

describe('a build of Runners in Python', () => {
  it('puts what they need into the image, of conda and of pip', async () => {
    const service = `
      import { io, Runner, Service } from 'serving'
      const python = new URL('./model.py', import.meta.url)
      const packed = new Runner('packed', { python, packages: ['polars==1.0'], methods: { f: {} } })
      const dependencies = ['python=3.12', 'lightgbm']
      const conda = new Runner('conda', { python, conda: { dependencies }, methods: { f: {} } })
      const svc = new Service('snakes', { runners: [packed, conda] })
      svc.api({ input: new io.JSON(), output: new io.JSON() }, function f(x) { return x })
      export default svc`
    const cwd = folder(
      { 'package.json': '{"type":"module"}', 'service.ts': service, 'model.py': '' },
      true,
    )
    expect(await run(['build', 'service.ts'], { cwd })).toMatchObject({ code: 0, stderr: '' })
    expect(readdirSync(join(cwd, 'build/python'))).toEqual(['environment.yml'])
    expect(readFileSync(join(cwd, 'build/python/environment.yml'), 'utf8')).toBe(
      'channels:\n  - "conda-forge"\ndependencies:\n  - "pip"\n  - "python=3.12"\n' +
        '  - "lightgbm"\n  - pip:\n      - "polars==1.0"\n',
    )
    expect(readFileSync(join(cwd, 'build/Dockerfile'), 'utf8')).not.toContain('python3-venv')
  })

  it.each([
    ["executable: 'venv/bin/python'", {}, true],
    ["executable: 'venv/bin/python'", { python: { packages: ['joblib'] } }, true],
    ["executable: '/usr/bin/python3'", { docker: { systemPackages: ['python3'] } }, false],
    [
      "executable: 'venv/bin/python'",
      { docker: { baseImage: 'example.org/python-and-node' } },
      false,
    ],
    ['init: {}', { docker: { systemPackages: ['curl'] } }, true],
    ['init: {}', { python: { packages: ['joblib'] } }, false],
    ["packages: ['joblib']", {}, false],
  ])('with %s and %j tells whether the image lacks Python', async (option, build, lacks) => {
    const service = `
      import { io, Runner, Service } from 'serving'
      const forest = new Runner('forest', { python: './model.py', methods: { f: {} }, ${option} })
      const svc = new Service('snake', { runners: [forest] })
      svc.api({ input: new io.JSON(), output: new io.JSON() }, function f(x) { return x })
      export default svc`
    const files = { 'package.json': '{"type":"module"}', 'service.ts': service, 'model.py': '' }
    const cwd = folder({ ...files, 'serving.config.json': JSON.stringify({ build }) }, true)
    const { code, stdout } = await run(['build', 'service.ts'], { cwd })
    expect(code).toBe(0)
    const text =
      'warning: the image has no Python for the runner forest: name its packages (build.python.packages)'
    expect(stdout.includes(text)).toBe(lacks)
  })
})
