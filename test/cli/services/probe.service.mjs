/**
 * A service that lets a test see inside: who answers, and a request that runs until the test lets it go. In JavaScript,
 * since a worker needs half its CPU to begin with a compiler.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { io, Service } from 'serving'

const svc = new Service('probe')

svc.api({ input: new io.Text(), output: new io.JSON() }, function pid() {
  return { pid: process.pid }
})

// Says by FILE.begun that it runs, and ends once FILE is there.
svc.api({ input: new io.Text(), output: new io.Text() }, async function hold(file) {
  writeFileSync(`${file}.begun`, '')
  while (!existsSync(file)) await wait(10)
  return 'held'
})

svc.api({ input: new io.Text(), output: new io.Text() }, function crash() {
  setImmediate(() => {
    throw new Error('thrown outside of any request')
  })
  return 'crashing'
})

export default svc
