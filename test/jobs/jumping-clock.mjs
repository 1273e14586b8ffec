// The thread of a store whose wall clock is ahead by `workerData.ahead[0]`. **Units**: milliseconds.
import { workerData } from 'node:worker_threads'

const now = Date.now
Date.now = () => now() + workerData.ahead[0]
await import('../../src/jobs/sqlite/store-thread.ts')
