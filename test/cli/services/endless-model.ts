/** A model that never ends loading, and tells by a file that it began. */
import { writeFileSync } from 'node:fs'

writeFileSync(`${process.env.START_FILE}.begun`, '')
await new Promise(() => setInterval(() => {}, 1_000))
