/**
 * Frames in Fastify: parsed JSON through Polars and back, CSV and Parquet by Polars itself.
 * @module
 */
import type { FastifyInstance } from 'fastify'
import polars from 'nodejs-polars'

/** Adds the jobs of frames and series. */
export function addFrameRoutes(app: FastifyInstance): void {
  app.post<{ Body: Record<string, unknown>[] }>('/frame', async (request, reply) =>
    reply
      .type('application/json')
      .send(polars.readRecords(request.body).writeJSON({ format: 'json' })),
  )
  app.post<{ Body: Buffer }>('/csv', async (request, reply) =>
    reply.type('text/csv').send(polars.readCSV(request.body).writeCSV()),
  )
  app.post<{ Body: Buffer }>('/parquet', async (request, reply) =>
    reply.type('application/octet-stream').send(polars.readParquet(request.body).writeParquet()),
  )
  app.post<{ Body: number[] }>('/series', async (request) => polars.Series(request.body).toArray())
}
