/** A service whose startup hook waits for a file, and tells by others that it began and that it was stopped. */
import { existsSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { io, Service } from 'serving'

const file = process.env.START_FILE ?? ''
const svc = new Service('slow_start')
svc.onStartup(async () => {
  writeFileSync(`${file}.begun`, '')
  while (!existsSync(file)) await wait(5)
})
svc.onShutdown(() => writeFileSync(`${file}.stopped`, ''))
svc.api({ input: new io.Text(), output: new io.Text(), name: 'echo' }, (text) => text)
export default svc
