import { createClient } from 'serving/client'

const client = createClient<typeof import('./jobs.ts')>('http://localhost:3000')
const job = await client.report.submit('one,two', { idempotencyKey: 'monday' })
for await (const { status, progress, partial } of job.events())
  console.log(status ?? progress ?? partial)
console.log(await job.result()) // ONE;TWO;
