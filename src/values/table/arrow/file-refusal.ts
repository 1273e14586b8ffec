/** Why a file of a client is refused. @module */

/** Longest path of a column in a message. **Units**: characters. */
const maxShownPath = 100

/** Thrown for a file that is refused. Its message describes the file. `isTooLarge`: it is above a limit. */
export class FileRefusal extends Error {
  readonly isTooLarge: boolean

  constructor(received: string, isTooLarge = false) {
    super(received)
    this.isTooLarge = isTooLarge
  }
}

/** @returns a column's name for a message. */
export function columnNamed(path: string): string {
  return `column ${JSON.stringify(path.slice(0, maxShownPath))}`
}

/** @returns the refusal of a column whose type is not read. */
export function unsupported(path: string, type: string): FileRefusal {
  return new FileRefusal(`one with ${columnNamed(path)} of a type that is not supported, ${type}`)
}

/** @returns the refusal of a damaged column. */
export function damagedColumn(path: string, why: string): FileRefusal {
  return new FileRefusal(`one with ${columnNamed(path)} that cannot be decoded: ${why}`)
}

/** @returns the refusal of bytes that are not what they should be. */
export function damagedFile(why = ''): FileRefusal {
  return new FileRefusal(`one that cannot be decoded${why && ': '}${why}`)
}

/** @returns the refusal of a file that would fill memory. */
export function tooMuch(): FileRefusal {
  return new FileRefusal('one that unpacks to too much', true)
}

/** What a file may still make the server hold. **Units**: bytes. */
export class MadeBytes {
  #left: number

  constructor(limit: number) {
    this.#left = limit
  }

  /**
   * Takes bytes before they are made.
   *
   * @throws {@link FileRefusal} when no more is left.
   */
  take(bytes: number): void {
    this.#left -= bytes
    if (!(bytes >= 0 && this.#left >= 0)) throw tooMuch()
  }
}
