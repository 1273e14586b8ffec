import { threadId } from 'node:worker_threads'

export interface Releases {
  thread(x: null): { readonly id: number; readonly released: readonly string[] }
}

const released: string[] = []

export function load(name: string): Releases & { readonly name: string } {
  return { name, thread: () => ({ id: threadId, released }) }
}

/** Called by the thread, which then loads another model. */
export function releaseModel({ name }: { readonly name: string }): void {
  if (name === 'fails') throw new Error('not released')
  released.push(name)
}
