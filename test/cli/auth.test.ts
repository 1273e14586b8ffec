import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { root } from './process.ts'

const script = `
import { closeSync, openSync } from 'node:fs'
import { HeaderList, Context } from 'serving'
import { jwt } from 'serving/auth'
const auth = jwt({ jwks: '/nowhere/jwks.json', issuer: 'https://issuer.example.org', audience: 'models' })
const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
const token = [part({ alg: 'ES256' }), part({ sub: 'ann' }), 'AAAA'].join('.')
const ask = async () => {
  const ctx = new Context({ headers: HeaderList.from({ authorization: 'Bearer ' + token }) })
  return await Promise.resolve(auth(ctx)).then(() => 200, (error) => error.status ?? error.code)
}
// Until nothing is being read any more: a service has long started when its first request comes.
for (let quiet = 0; quiet < 100; quiet++) {
  await new Promise((resolve) => setTimeout(resolve, 5))
  if (process.getActiveResourcesInfo().some((name) => name.startsWith('FS'))) quiet = 0
}
const held = []
try {
  for (;;) held.push(openSync('/dev/null'))
} catch {}
console.log(await ask())
for (const each of held) closeSync(each)
console.log(await ask())
`

it.runIf(process.platform === 'linux')(
  'jwt needs no file descriptor for its first token',
  async () => {
    const shell = 'ulimit -n 128; exec "$0" --input-type=module -e "$1"'
    const { stdout } = await promisify(execFile)('sh', ['-c', shell, process.execPath, script], {
      cwd: root,
    })
    // The keys cannot be read, which is told at once and each time.
    expect(stdout).toBe('503\n503\n')
  },
)
