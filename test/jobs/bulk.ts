/** An API of jobs whose answers are as large as a test asks for. @module */
import { io, type Service } from '../../src/index.ts'

export const mb = 1024 * 1024

const bytes = {
  input: new io.Text(),
  output: new io.File({ mimeType: 'application/octet-stream' }),
}
const pattern = Uint8Array.from({ length: 251 }, (_, i) => i)

/** So many bytes, each of them its number modulo 251. */
export const bulkOf = (size: number) => Buffer.alloc(size, pattern)

/** Answers with as many bytes as it is asked for. */
export const bulk = (svc: Service) =>
  svc.api({ ...bytes, name: 'bulk', async: true, maxInFlight: 1_000 }, (size: string) =>
    bulkOf(Number(size)),
  )
