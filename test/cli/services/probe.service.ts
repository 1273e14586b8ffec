/** A service in TypeScript, which says what it has from its imports. */
import { io, Service } from 'serving'
import { greeting } from './probe-greeting.ts'

const svc = new Service('probe')

svc.api({ input: new io.Text(), output: new io.JSON() }, function pid() {
  return { pid: process.pid, greeting }
})

export default svc
