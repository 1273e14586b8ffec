/** Beside the service: what relative imports find. */
import { readFileSync } from 'node:fs'

enum Mood {
  Friendly = 'hello',
}

const { name }: { name: string } = JSON.parse(
  readFileSync(new URL('probe.json', import.meta.url), 'utf8'),
)

/** From a file of data and from syntax that only a compiler can take away. */
export const greeting = `${Mood.Friendly}, ${name}`
