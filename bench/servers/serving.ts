/**
 * serving itself: one process, one API per descriptor, each an echo.
 * @module
 */
import { io, Service, serve } from 'serving'
import { listening } from './listening.ts'

const svc = new Service('bench')
svc.api({ input: new io.NumpyNdarray(), output: new io.NumpyNdarray() }, function ndarray(x) {
  return x
})
svc.api({ input: new io.JSON(), output: new io.JSON() }, function json(value) {
  return value
})
svc.api({ input: new io.Text(), output: new io.Text() }, function text(value) {
  return value
})

const listener = await serve(svc, { port: 0, host: '127.0.0.1', engine: 'uws' })
listening(listener.port)
