/** Starts a worker process. @module */
import { loadWithDefaults } from '../server/workers/worker-options.ts'

loadWithDefaults()
await import('./worker-program.ts')
