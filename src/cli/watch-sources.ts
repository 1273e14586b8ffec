/** Watches the sources of a service. The only file that imports chokidar. @module */
import { existsSync } from 'node:fs'
import { basename, dirname, extname, join, relative } from 'node:path'
import { watch } from 'chokidar'

const extensions = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.json', '.yaml', '.yml', '.onnx', '.py', '.env']

/** An editor writes several files, or one in several steps: they count as one change. **Units**: milliseconds. */
const settleMs = 30

/** Calls `onChange` with the name of a file of the project that has changed; node_modules and .folders are left out. */
export function watchSources(service: string, onChange: (name: string) => void): void {
  let timer: NodeJS.Timeout | undefined
  const watcher = watch(projectFolder(service), {
    ignoreInitial: true,
    ignored: (path, stats) => {
      const name = basename(path)
      if (name === 'node_modules' || /^\.[^.]/.test(name)) return name !== '.env'
      return stats?.isFile() === true && !extensions.includes(extname(path)) && name !== '.env'
    },
  })
  watcher.on('all', (event, path) => {
    if (event === 'addDir' || event === 'unlinkDir') return
    clearTimeout(timer)
    timer = setTimeout(() => onChange(relative(process.cwd(), path)), settleMs)
  })
}

function projectFolder(file: string): string {
  for (let at = dirname(file); ; at = dirname(at)) {
    if (existsSync(join(at, 'package.json'))) return at
    if (dirname(at) === at) return dirname(file)
  }
}
