/** Watches the sources of a service. The only file that imports chokidar. @module */
import { basename, dirname, relative } from 'node:path'
import { watch } from 'chokidar'
import { projectFolder } from './folders.ts'

const isSource = /\.(?:[cm]?[jt]s|json|ya?ml|onnx|py|env)$/

/** An editor writes several files, or one in several steps: they count as one change. **Units**: milliseconds. */
const settleMs = 30

/** Calls `onChange` with the name of a file of the project that has changed; node_modules and .folders are left out. */
export function watchSources(service: string, onChange: (name: string) => void): void {
  let timer: NodeJS.Timeout | undefined
  const watcher = watch(projectFolder(dirname(service)) ?? dirname(service), {
    ignoreInitial: true,
    ignored: (path, stats) => {
      const name = basename(path)
      if (name === 'node_modules' || /^\.[^.]/.test(name)) return name !== '.env'
      return stats?.isFile() === true && !isSource.test(name)
    },
  })
  watcher.on('all', (event, path) => {
    if (event === 'addDir' || event === 'unlinkDir') return
    clearTimeout(timer)
    timer = setTimeout(() => onChange(relative(process.cwd(), path)), settleMs)
  })
}
