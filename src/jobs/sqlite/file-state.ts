import { statSync } from 'node:fs'
import { type Database, transaction } from './database.ts'

/**
 * Primary codes of failures that pass, or are of one call: locked, a constraint.
 *
 * @see sqlite.org/rescode.
 */
const passing: ReadonlySet<number> = new Set([5, 6, 19])

/** Whether the file of a store can keep jobs, which is told whenever it changes. */
export class FileState {
  readonly #path: string
  readonly #database: Database
  readonly #tell: (unready: string | undefined) => void
  readonly #file: string
  #unready: string | undefined

  constructor(path: string, database: Database, tell: (unready: string | undefined) => void) {
    this.#path = path
    this.#database = database
    this.#tell = tell
    this.#file = fileOf(path)
  }

  /** Called with each error of SQLite. */
  failed(error: unknown): void {
    const { message, errcode } = error as Error & { readonly errcode?: number }
    if (errcode !== undefined && !passing.has(errcode & 0xff)) this.#set(message)
  }

  /** Called now and then: looks whether the file is still there, and after a failure whether it takes changes again. */
  look(): void {
    const file = fileOf(this.#path)
    if (file !== this.#file) {
      const what = file === '' ? 'was deleted or moved' : 'was replaced by another one'
      this.#set(`its file ${what}, and each job in it is lost at the end of this process`)
      return
    }
    if (this.#unready === undefined) return
    try {
      // Writes a page, which changes nothing.
      const version = this.#database.prepare('PRAGMA user_version').get()?.user_version
      transaction(this.#database, () => this.#database.exec(`PRAGMA user_version = ${version}`))
      this.#set(undefined)
    } catch (error) {
      this.failed(error)
    }
  }

  #set(unready: string | undefined): void {
    if (unready === this.#unready) return
    this.#unready = unready
    this.#tell(unready)
  }
}

/** What tells one file from another at the same path; '' without a file. */
function fileOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? '' : `${stats.dev}:${stats.ino}`
}
