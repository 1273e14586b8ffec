#!/usr/bin/env node
/** The command `serving`. @module */
const [, , name = '', ...args] = process.argv
if (['serve', 'dev', 'models'].includes(name) && !args.includes('--help') && !args.includes('-h')) {
  const { startFirstWorker } = await import('../server/workers/first-worker.ts')
  startFirstWorker(new URL('./worker.js', import.meta.url))
}
await import('./program.ts')
