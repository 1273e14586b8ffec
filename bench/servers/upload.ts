/**
 * File and Multipart for `bench/upload.ts`: answers with the size of the body, or with the body. UPLOAD_ENGINE names
 * the engine.
 * @module
 */
import { io, Service, serve } from 'serving'
import { listening } from './listening.ts'

const svc = new Service('upload')
svc.api({ input: new io.File(), output: new io.JSON() }, function file(value) {
  return value.size
})
svc.api(
  { input: new io.Multipart({ file: new io.File() }), output: new io.JSON() },
  function form({ file }) {
    return file.size
  },
)
svc.api({ input: new io.File(), output: new io.File() }, function echo(value) {
  return value
})

const engine = process.env.UPLOAD_ENGINE as 'uws' | 'node'
const listener = await serve(svc, { port: 0, host: '127.0.0.1', engine, maxBodyBytes: 2 ** 32 })
listening(listener.port)
