import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { folder, probe, root, run, serveFile } from './process.ts'

/** Serves a file that holds `source`, in a project that has the package, and tells what came of it. */
async function serveSource(source: string, name = 'service.ts', linked = true) {
  const cwd = folder({ [name]: source }, linked)
  return await run(['serve', name, '--port', '0', '--workers', '1'], { cwd })
}

describe('a service file that is wrong', () => {
  it.each([
    ['nowhere.ts', 'there is no file nowhere.ts'],
    ['test', 'test is no file'],
    ['package.json', 'expected a .ts, .mts, .js or .mjs file, received package.json'],
  ])('%s is refused before any worker starts', async (file, message) => {
    const { code, stdout, stderr } = await run(['serve', file, '--port', '0'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr.split('\n')).toEqual([expect.stringMatching(`^serving: ${message}`), ''])
  })

  it.each([
    ['export const service = 1', 'service.ts has no default export'],
    ['export default 42', 'expected a Service for the default export of service.ts, received 42'],
    [
      'export default undefined',
      'expected a Service for the default export of service.ts, received undefined',
    ],
    [`import { Service } from 'serving'; export default Service`, 'received function Service'],
    [
      `import { Service } from 'serving'; export default new Service('bare')`,
      'the service bare of service.ts has no APIs',
    ],
  ])('%s: one line tells what is wrong', async (source, message) => {
    const { code, stderr } = await serveSource(source)
    expect({ code, lines: stderr.split('\n') }).toEqual({
      code: 1,
      lines: [expect.stringContaining(message), ''],
    })
  })

  it('that makes a mistake in the set-up gets one line with its place', async () => {
    const { code, stderr } = await serveSource(
      `import { Service } from 'serving'\n\nexport default new Service('two words')`,
    )
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^serving: expected .* for the name of a Service, received "two words" \(service\.ts:3:\d+\)\n$/,
    )
  })

  it('that throws is told in one sentence with the line of its own code', async () => {
    const { code, stderr } = await serveSource(
      `function open(path: string): never {\n  throw new TypeError('no model at ' + path)\n}\n\nopen('x.bin')`,
    )
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'serving: TypeError: no model at x.bin (service.ts:2:9)\n',
    })
  })

  it('of several workers is told once, by no line of the log', async () => {
    const cwd = folder(
      { 'service.ts': `import fs from 'node:fs'\nfs.readFileSync('weights.bin')\n` },
      true,
    )
    const { code, stderr } = await run(['serve', 'service.ts', '--port', '0', '--workers', '3'], {
      cwd,
    })
    const sentence = `serving: ENOENT: no such file or directory, open 'weights.bin' (service.ts:2:4)\n`
    expect({ code, stderr }).toEqual({ code: 1, stderr: sentence })
  })

  it('that throws what has a cause tells the cause, too', async () => {
    const { stderr } = await serveSource(
      `throw new Error('no model', { cause: new Error('the disk is gone') })`,
    )
    expect(stderr).toBe('serving: no model (service.ts:1:7): the disk is gone\n')
  })

  it('that misuses a descriptor points at its own line, not at a file of the package', async () => {
    const { stderr } = await serveSource(
      `import { io } from 'serving'\n\nexport default new io.Text({ contentType: 'image/png' } as never)`,
    )
    expect(stderr).toMatch(/^serving: .* \(service\.ts:3:16\)\n$/)
  })

  it('that was compiled points at the line of its source', async () => {
    // Line 3 of the file is line 7 of service.ts.
    const map = {
      version: 3,
      sources: ['service.ts'],
      sourcesContent: [null],
      names: [],
      mappings: 'AAAA;AACA;AAKA',
    }
    const url = `data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}`
    const source = `const a = 1\nconst b = 2\nthrow new Error('no weights')\n//# sourceMappingURL=${url}\n`
    const { stderr } = await serveSource(source, 'service.mjs')
    expect(stderr).toMatch(/^serving: no weights \(service\.ts:7:\d+\)\n$/)
  })

  it.each([
    [
      'service.ts',
      `import './model.ts'`,
      'serving: service.ts imports model.ts, which does not exist\n',
    ],
    [
      'service.mjs',
      `import 'no-such-package'`,
      'serving: service.mjs imports the package no-such-package, which is not installed: npm install no-such-package\n',
    ],
  ])('%s that says %s is told what is missing', async (name, source, sentence) => {
    expect((await serveSource(source, name)).stderr).toBe(sentence)
  })

  it('that throws later, while it starts, is told in the same way', async () => {
    const { code, stderr } = await serveSource(
      `setImmediate(() => { throw new Error('late') })\nawait new Promise(() => {})`,
    )
    expect(code).toBe(1)
    expect(stderr).toBe('serving: late (service.ts:1:28)\n')
  })

  it('that does not parse is told with its place', async () => {
    const { code, stderr } = await serveSource('const x = ;\nexport default x')
    expect(code).toBe(1)
    expect(stderr).toBe('serving: service.ts:1:10: Unexpected ";"\n')
    const plain = await serveSource('const x = ;\nexport default x', 'service.mjs')
    expect(plain.stderr).toBe("serving: service.mjs:1: Unexpected token ';'\n")
  })

  it('that ends the process is not started again', async () => {
    const { code, stderr } = await serveSource('process.exit(7)')
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'serving: worker 1 exited with code 7 before it was ready\n',
    })
  })

  it('whose startup hook fails does not become ready', async () => {
    const { code, stdout, stderr } = await serveSource(`
      import { io, Service } from 'serving'
      const svc = new Service('hooked')
      svc.api({ input: new io.Text(), output: new io.Text() }, function echo(text: string) { return text })
      svc.onStartup(() => { throw new Error('no weights') })
      export default svc`)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('no weights')
  })

  it('of a project without the package is told to install it', async () => {
    const { code, stderr } = await serveSource(
      `import { Service } from 'serving'\nexport default new Service('x')`,
      'service.ts',
      false,
    )
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^serving: service\.ts imports serving, which is not installed there: run npm install \/.* in .*\n$/,
    )
  })
})

describe('a port', () => {
  it('that is in use ends the start with a message', async () => {
    const { port } = await serveFile(probe, ['--workers', '1'])
    const { code, stdout, stderr } = await run([
      'serve',
      probe,
      '--port',
      `${port}`,
      '--workers',
      '2',
    ])
    const remedy = 'stop the process that listens there, or choose another port with --port'
    const wanted = { code: 1, stdout: '', stderr: `serving: port ${port} is in use: ${remedy}\n` }
    expect({ code, stdout, stderr }).toEqual(wanted)
  })

  it('that another program has on one address is in use for all addresses', async () => {
    const other = createServer()
    onTestFinished(() => void other.close())
    const port = await new Promise<number>((resolve) => {
      other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port))
    })
    expect(await run(['serve', probe, '--port', `${port}`])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('in use'),
    })
  })

  it('of an address that this machine does not have ends the start with a message', async () => {
    const { code, stderr } = await run(['serve', probe, '--port', '0', '--host', '192.0.2.1'])
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'serving: --host 192.0.2.1 is no address of this machine\n',
    })
  })
})

describe('a wrong command line', () => {
  it.each([
    [
      ['serve', probe, '--port', '70000'],
      "option '--port <number>' argument '70000' is invalid. Expected a whole number from 0 to 65535.",
    ],
    [['serve', probe, '--workers', '0'], "option '--workers <number>' argument '0' is invalid"],
    [['serve', probe, '--engine', 'apache'], 'Expected uws or node.'],
    [['serve', probe, '--base-url', '/a b'], 'Expected a text as in /v1.'],
    [
      ['serve', probe, '--max-body-bytes', '64MB'],
      'Expected a whole number from 0 up or a text as in 64MiB.',
    ],
    [['serve', probe, '--max-in-flight', '0'], 'Expected a whole number from 1 up.'],
    [['serve', probe, '--prot', '1'], '(Did you mean --port?)'],
    [['serve', probe, 'another.ts'], 'too many arguments'],
    [['serve'], "missing required argument 'FILE'"],
    [['sevre', probe], "unknown command 'sevre'"],
    [[], 'Usage: serving'],
  ])('%j ends with code 2 and says what was expected', async (args, message) => {
    const { code, stdout, stderr } = await run(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
  })

  it('in the environment names the variable', async () => {
    const { code, stderr } = await run(['serve', probe], { env: { SERVING_MAX_IN_FLIGHT: 'many' } })
    expect(code).toBe(2)
    expect(stderr).toContain(
      "value 'many' from env 'SERVING_MAX_IN_FLIGHT' is invalid. Expected a whole number from 1 up.",
    )
  })
})

describe('what the command tells about itself', () => {
  it('is the versions, the engines and the codec', async () => {
    const { code, stdout } = await run(['--version'])
    expect(code).toBe(0)
    const codec = /codec: (native|TypeScript \(.+\))/.source
    const jpeg = /JPEG: (libjpeg-turbo \d.*|@napi-rs\/image \(.+\))/.source
    const uws =
      /uws \(uWebSockets\.js .+ packed by .+ \d.*\), node|node \(uws does not load here: .+\)/
        .source
    const versions = `serving \\d+\\.\\d+\\.\\d+\nnode v\\d+.*\nengines: (${uws})`
    expect(stdout).toMatch(new RegExp(`^${versions}\n${codec}\n${jpeg}\n$`))
  })

  it('is every option with its default and its variable', async () => {
    const { code, stdout } = await run(['serve', '--help'])
    expect(code).toBe(0)
    const text = stdout.replace(/\s+/g, ' ')
    expect(text).toContain(
      '--port <number> port to listen on; 0 takes a free one (default: 3000, env: SERVING_PORT)',
    )
    expect(text).toContain('(default: 64MiB, env: SERVING_MAX_BODY_BYTES)')
    for (const name of [
      'HOST',
      'BASE_URL',
      'WORKERS',
      'ENGINE',
      'REQUEST_TIMEOUT_MS',
      'MAX_IN_FLIGHT',
      'DRAIN_TIMEOUT_MS',
      'MODEL_GRACE_MS',
    ]) {
      expect(text).toContain(`env: SERVING_${name})`)
    }
  })

  it('is in groups, at most 100 columns wide on a wide terminal, and told once', async () => {
    const wide = 'data:text/javascript,process.stdout.isTTY=true;process.stdout.columns=170'
    const env = { NODE_OPTIONS: `--import=${wide}`, NO_COLOR: '1' }
    const { stdout } = await run(['serve', '--help'], { env })
    const headings = [...stdout.matchAll(/^([A-Z][\w, ]+):$/gm)].map(([, heading]) => heading)
    const groups = [
      'Network',
      'TLS',
      'Workers',
      'Limits',
      'Pages',
      'Splits',
      'Jobs',
      'Logs, metrics and traces',
    ]
    expect(headings).toEqual(['Arguments', ...groups, 'Options'])
    for (const command of ['serve', 'dev', 'models', 'config']) {
      const { stdout } = await run([command, '--help'], { env })
      expect(stdout.split('\n').filter((line) => line.length > 100)).toEqual([])
      expect([command, stdout.includes('--max-in-flight')]).toEqual([command, command === 'serve'])
      expect([command, stdout.includes('see serving serve --help')]).toEqual([
        command,
        command !== 'serve',
      ])
    }
  })

  it('has no colours for NO_COLOR, and has them when they are forced', async () => {
    const plain = await run(['--help'], { env: { NO_COLOR: '1' } })
    const coloured = await run(['--help'], { env: { FORCE_COLOR: '1' } })
    expect(plain.stdout).not.toContain('\u001b[')
    expect(coloured.stdout).toContain('\u001b[')
  })

  it('works through a link, as npm makes one for the command', async () => {
    const link = join(folder({}), 'serving')
    symlinkSync(join(root, 'dist/cli/main.js'), link)
    expect(execFileSync(process.execPath, [link, '--version'], { encoding: 'utf8' })).toMatch(
      /^serving /,
    )
  })
})
