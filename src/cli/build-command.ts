/**
 * `serving build`.
 * @module
 */
import { mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import type { DescribedService } from '../build/describe-service.ts'
import { type BuildPlan, type Describe, planBuild } from '../build/plan-build.ts'
import { readProject } from '../build/project.ts'
import { writeBuild, writeStage } from '../build/write-build.ts'
import { InvalidArgument } from '../errors.ts'
import { childAnswer } from './child-answer.ts'
import type { Settings } from './settings.ts'

/** Builds a service into a folder, or lists what would be written; returns what to print. */
export async function buildCommand(
  { service, file }: Settings,
  { out, list }: { readonly out: string | undefined; readonly list: boolean },
): Promise<string> {
  const project = await readProject(service, file)
  const plan = await planBuild(project, file?.options ?? {}, describeStaged(project.root))
  if (list) return listText(plan)
  const folder = resolve(out ?? join(project.root, 'build'))
  writeBuild(plan, folder)
  const { manifest } = plan
  const name = relative(process.cwd(), folder) || '.'
  const count = Object.keys(manifest.packages).length
  return [
    `built ${manifest.service.name} in ${name}: ${plan.files.size + 1} files, ${count} packages, ${shownBytes(plan)}`,
    `sha256 ${manifest.digest}`,
    `start it: node ${join(name, 'main.js')}`,
  ].join('\n')
}

/** Returns the function that loads a bundled service in a process of its own, from a temporary folder. */
function describeStaged(root: string): Describe {
  return async (files, { entry, modules }, packages) => {
    const stage = realpathSync(mkdtempSync(join(tmpdir(), 'serving-build-')))
    try {
      writeStage(files, packages, stage)
      const paths = [entry, ...modules].map((path) => join(stage, path))
      const script = new URL('./describe-module.js', import.meta.url)
      const answer = await childAnswer<DescribedService>(script, paths, 'the service')
      if ('value' in answer) return answer.value
      // The source maps of the staged code name sources beside it.
      const shown = (folder: string) => relative(process.cwd(), folder) || '.'
      throw new InvalidArgument(
        answer.failure.replaceAll(shown(stage), shown(root)).replaceAll(stage, root).replaceAll('./', ''),
      )
    } finally {
      rmSync(stage, { recursive: true, force: true })
    }
  }
}

function listText({ files, manifest }: BuildPlan): string {
  const own = [...files].filter(([path]) => !path.startsWith('node_modules/'))
  const rows = own.map(([path, file]) => [String(size(file)), manifest.files[path].slice(0, 12), path])
  const packages = Object.entries(manifest.packages).map(([place, { version, sha256 }]) => {
    const inside = [...files].filter(([path]) => new RegExp(`^node_modules/${place}/(?!node_modules/)`).test(path))
    const bytes = inside.reduce((sum, [, file]) => sum + size(file), 0)
    return [String(bytes), sha256.slice(0, 12), `node_modules/${place} ${version}`]
  })
  return [...rows, ...packages].map(([bytes, hash, name]) => `${bytes.padStart(10)}  ${hash}  ${name}`).join('\n')
}

function size(file: { readonly text: string } | { readonly from: string }): number {
  return 'text' in file ? Buffer.byteLength(file.text) : statSync(file.from).size
}

function shownBytes({ files }: BuildPlan): string {
  return `${([...files.values()].reduce((sum, file) => sum + size(file), 0) / 1e6).toFixed(1)} MB`
}
