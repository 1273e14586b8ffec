/**
 * Makes what a release is: the tarball with the compiled add-ons of all targets, its list of parts (SBOM, CycloneDX)
 * and checksums, in the folder `release`. Publishes nothing; with `--publish`, in a CI job that npm trusts
 * (https://docs.npmjs.com/trusted-publishers), `npm publish --provenance` does, so that the registry says which commit
 * and job the tarball is of.
 *
 * `npm run release`: refuses changes that are not committed, a CHANGELOG that does not name the version, and missing
 * tools of native/prebuild.mjs.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const out = join(root, 'release')
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

/** Returns the list of parts: npm's, and what is compiled into the add-ons. */
function partsList() {
  const sbom = JSON.parse(run('npm', 'sbom', '--omit=dev', '--sbom-format=cyclonedx'))
  const compiled = [
    { name: 'simdjson', version: '0.9.1', licenses: [{ license: { id: 'Apache-2.0' } }] },
    { name: 'libjpeg-turbo', version: '3.1.0', licenses: [{ license: { id: 'IJG' } }] },
    { name: 'libc++', version: '18', licenses: [{ expression: 'Apache-2.0 WITH LLVM-exception' }] },
  ]
  const parts = compiled.map((part) => ({
    'bom-ref': `native/${part.name}`,
    type: 'library',
    scope: 'required',
    ...part,
  }))
  return { ...sbom, components: [...sbom.components, ...parts] }
}

function check() {
  if (run('git', 'status', '--porcelain') !== '') throw new Error('there are changes that are not committed')
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  if (!changelog.includes(`\n## ${version}`)) throw new Error(`CHANGELOG.md has no section of version ${version}`)
}

check()
rmSync(out, { recursive: true, force: true })
mkdirSync(out)
run(process.execPath, 'native/prebuild.mjs', '--required')
run('npm', 'run', 'build')
const [{ filename }] = JSON.parse(run('npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', out))
const sbomName = `${name}-${version}.cdx.json`
writeFileSync(join(out, sbomName), `${JSON.stringify(partsList(), null, 2)}\n`)
const sums = [filename, sbomName].map((file) => {
  const sum = createHash('sha256')
    .update(readFileSync(join(out, file)))
    .digest('hex')
  return `${sum}  ${file}\n`
})
writeFileSync(join(out, 'SHA256SUMS'), sums.join(''))
process.stdout.write(sums.join(''))
if (process.argv.includes('--publish')) {
  run('npm', 'publish', join(out, filename), '--provenance', '--ignore-scripts', '--access', 'public')
}
