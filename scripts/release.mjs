/**
 * Makes what a release is: the tarball with the compiled add-ons of all targets, that of serving-io, the list of parts
 * (SBOM, CycloneDX) and checksums, in the folder `release`. Publishes nothing; with `--publish`, in a CI job that npm
 * trusts (https://docs.npmjs.com/trusted-publishers), `npm publish --provenance` does, so that the registry says which
 * commit and job the tarball is of.
 *
 * `npm run release`: refuses changes that are not committed, a CHANGELOG that does not name the version, and missing
 * tools of native/prebuild.mjs; with `--publish` also what `npm audit` finds. `--dry-run` does all steps of `--publish`
 * but the last one, goes on after a refusal, and ends with the list of them.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lockedPackages, production } from './third-party.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const out = join(root, 'release')
const isRehearsal = process.argv.includes('--dry-run')
const publishes = isRehearsal || process.argv.includes('--publish')
const refusals = []
const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Runs a command in the project and returns what it prints; what it complains about is shown. */
function run(command, ...args) {
  return execFileSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

const part = (name, version, licenses, more) => ({
  type: 'library',
  name,
  version,
  licenses,
  ...more,
})
const license = (id) => [{ license: { id } }]

/**
 * Returns the list of parts: every package of the lock file that comes along, and what is compiled into the add-ons.
 * `npm sbom --omit=dev` of npm 11 leaves out packages that development needs as well, such as pino.
 */
function partsList() {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const packages = production(lockedPackages(lock)).map(
    ({ name, version, license: id, integrity }) => {
      const content = Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex')
      const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
      return part(name, version, license(id), { purl, hashes: [{ alg: 'SHA-512', content }] })
    },
  )
  const compiled = [
    part('simdjson', '3.9.4', license('Apache-2.0')),
    part('libjpeg-turbo', '3.1.0', license('IJG')),
    part('libc++', '18', [{ expression: 'Apache-2.0 WITH LLVM-exception' }]),
  ]
  const component = { type: 'library', name, version, purl: `pkg:npm/${name}@${version}` }
  const head = { bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, metadata: { component } }
  return { ...head, components: [...packages, ...compiled] }
}

function check() {
  if (run('git', 'status', '--porcelain') !== '')
    throw new Error('there are changes that are not committed')
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  if (!changelog.includes(`\n## ${version}`))
    throw new Error(`CHANGELOG.md has no section of version ${version}`)
}

/** Does a step that may refuse the release: a rehearsal notes the refusal and goes on. */
function step(name, work) {
  try {
    work()
    if (isRehearsal) console.log(`passed: ${name}`)
  } catch (error) {
    if (!isRehearsal) throw error
    refusals.push(`refused: ${name}: ${error.message.split('\n')[0]}`)
  }
}

step('commits and CHANGELOG', check)
if (publishes) {
  // Both ask the registry, and end with an error for a known vulnerability of a package that comes along, or one that
  // is not what its publisher has signed.
  step('npm audit', () => run('npm', 'audit', '--omit=dev'))
  step('npm audit signatures', () => run('npm', 'audit', 'signatures', '--omit=dev'))
}
rmSync(out, { recursive: true, force: true })
mkdirSync(out)
step('add-ons of all targets', () => run(process.execPath, 'native/prebuild.mjs', '--required'))
step('build', () => run('npm', 'run', 'build'))
const [{ filename }] = JSON.parse(
  run('npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', out),
)
const sbomName = `${name}-${version}.cdx.json`
writeFileSync(join(out, sbomName), `${JSON.stringify(partsList(), null, 2)}\n`)
const ioName = basename(run(process.execPath, 'scripts/pack-io.mjs', out).trim())
const sums = [filename, ioName, sbomName].map((file) => {
  const sum = createHash('sha256')
    .update(readFileSync(join(out, file)))
    .digest('hex')
  return `${sum}  ${file}\n`
})
writeFileSync(join(out, 'SHA256SUMS'), sums.join(''))
process.stdout.write(sums.join(''))
if (publishes) {
  // Without network and trust a rehearsal ends before npm would send the tarball.
  const how = isRehearsal ? ['--dry-run'] : ['--provenance']
  step('npm publish', () =>
    run('npm', 'publish', join(out, filename), ...how, '--ignore-scripts', '--access', 'public'),
  )
}
for (const refusal of refusals) console.error(refusal)
if (refusals.length > 0) process.exitCode = 1
