/** Stands where browsers and Workers lack what Node has. @module */
import { SetupError } from './errors.ts'

function refuse(name: string): never {
  const where = 'Node, Bun or Deno: this is the build of serving/io for browsers and Workers'
  throw new SetupError(
    'invalid_argument',
    `${name} needs ${where}; bundlers take the other one by the condition "node"`,
  )
}

/** @returns a function that refuses to run. */
export function functionOfNode(name: string): () => never {
  return () => refuse(name)
}

/** @returns a class that refuses to be made. */
export function classOfNode(name: string): new () => object {
  return class {
    constructor() {
      refuse(name)
    }
  }
}
