import { BadInput, ServingError } from 'serving'

class Teapot extends ServingError {
  constructor(message: string) {
    super('function_error', message, {}, { code: 'teapot', status: 418 })
  }
}

/** Throws what it is asked to throw. */
export default function load() {
  return {
    badInput: (path: string): never => {
      throw new BadInput('expected something else', {
        reason: 'shape',
        path,
        cause: new Error('deep down'),
      })
    },
    teapot: (): never => {
      throw new Teapot('short and stout')
    },
    rangeError: (): never => {
      throw new RangeError('out of it')
    },
    text: (): never => {
      throw 'not an Error'
    },
    returnsFunction: () => () => 1,
    fine: () => 'fine',
  }
}
