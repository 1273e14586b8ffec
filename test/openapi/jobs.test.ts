import { validate as parse } from '@readme/openapi-parser'
import { Validator } from '@seriousme/openapi-schema-validator'
import { io, Service } from 'serving'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { describeServer } from '../../src/server/describe-server.ts'
import every from './every.service.ts'

interface Operation {
  readonly operationId: string
  readonly tags?: string[]
}

describe('the OpenAPI document of asynchronous APIs', async () => {
  const svc = new Service('both')
  const json = { input: new io.JSON(), output: new io.JSON() }
  // Its schema has the name that those of jobs have.
  const mine = z.object({ title: z.string() }).meta({ id: 'Job' })
  const own = { input: new io.JSON({ schema: mine }), output: new io.JSON() }
  svc.api({ ...own, name: 'later', async: true }, (value) => value)
  svc.api({ ...json, name: 'now' }, (value) => value)
  const described = JSON.parse(JSON.stringify(await describeServer(svc, '/v1')))

  it('has the headers and the answer 202 of a submission, for no other API', () => {
    const { later, now } = {
      later: described.paths['/later'].post,
      now: described.paths['/now'].post,
    }
    const names = (operation: { parameters?: { name: string; in: string }[] }) =>
      operation.parameters?.map((each) => `${each.in} ${each.name}`)
    expect(names(later)).toEqual(['header prefer', 'header idempotency-key', 'header webhook-url'])
    expect(later.responses[202].headers.location.schema).toEqual({ type: 'string' })
    expect([names(now), now.responses[202]]).toEqual([undefined, undefined])
  })

  it('has the paths of jobs, whose schema is not one of the service', () => {
    const operations = Object.entries(
      described.paths as Record<string, Record<string, Operation>>,
    ).flatMap(([path, item]) =>
      Object.entries(item).map(([method, each]) => [
        `${method} ${path}`,
        each.operationId,
        each.tags?.[0],
      ]),
    )
    expect(operations.filter(([, , tag]) => tag === 'jobs')).toEqual([
      ['get /jobs', 'listJobs', 'jobs'],
      ['delete /jobs/{id}', 'deleteJob', 'jobs'],
      ['get /jobs/{id}', 'getJob', 'jobs'],
      ['get /jobs/{id}/result', 'getJobResult', 'jobs'],
      ['get /jobs/{id}/events', 'watchJob', 'jobs'],
      ['post /jobs/{id}/cancel', 'cancelJob', 'jobs'],
      ['post /jobs/{id}/retry', 'retryJob', 'jobs'],
    ])
    const result = described.paths['/jobs/{id}/result'].get
    expect(result.parameters.map(({ name }: { name: string }) => name)).toEqual(['id', 'prefer'])
    const { schemas } = described.components
    const refOf = ({ content }: { content: Record<string, { schema: { $ref: string } }> }) =>
      schemas[content['application/json'].schema.$ref.slice('#/components/schemas/'.length)]
    expect(refOf(described.paths['/later'].post.requestBody).properties).toEqual({
      title: { type: 'string' },
    })
    const job = refOf(result.responses[202])
    expect(Object.keys(job.properties)).toContain('queuePosition')
    expect(refOf(described.paths['/later'].post.responses[202])).toEqual(job)
  })

  it('is valid by two validators', async () => {
    expect(await new Validator().validate(structuredClone(described))).toEqual({ valid: true })
    expect(await parse(structuredClone(described))).toMatchObject({ valid: true, warnings: [] })
  })

  it('has no paths of jobs without asynchronous APIs', async () => {
    expect(
      Object.keys((await describeServer(every, '')).paths).filter((path) => path.includes('jobs')),
    ).toEqual([])
  })
})
