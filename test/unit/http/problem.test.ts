import { describe, expect, it } from 'vitest'
import {
  BadInput,
  type ErrorCode,
  errorTable,
  FunctionError,
  MethodNotAllowed,
  Overloaded,
  ServingError,
} from '../../../src/core/errors.ts'
import { problemResponse } from '../../../src/http/problem.ts'

const bodyOf = (error: ServingError) => JSON.parse(String(problemResponse(error, 'id-1').body))

describe('problemResponse', () => {
  it('tells what is wrong with a request, and where', () => {
    const error = new BadInput('expected a number', {
      reason: 'dtype',
      path: '[2][0]',
      offset: 17,
      cause: new Error('inner'),
    })
    expect(bodyOf(error)).toEqual({
      type: 'about:blank',
      title: 'Bad Request',
      status: 400,
      detail: 'expected a number',
      code: 'bad_input',
      reason: 'dtype',
      path: '[2][0]',
      offset: 17,
      requestId: 'id-1',
    })
  })

  it('lists what a schema finds wrong', () => {
    const issues = [{ path: 'a', message: 'expected a number' }]
    expect(bodyOf(new BadInput('no', { issues })).errors).toEqual(issues)
    expect(bodyOf(new FunctionError('no', { issues })).errors).toBeUndefined()
  })

  it('tells nothing of a fault behind the function but its code', () => {
    expect(
      bodyOf(new FunctionError('secret', { cause: new Error('secret'), path: 'secret' })),
    ).toEqual({
      type: 'about:blank',
      title: 'Internal Server Error',
      status: 500,
      code: 'function_error',
      requestId: 'id-1',
    })
  })

  it('carries allow and retry-after', () => {
    expect(
      problemResponse(new MethodNotAllowed('no', { allow: 'POST' }), 'i').headers,
    ).toContainEqual(['allow', 'POST'])
    expect(
      problemResponse(new Overloaded('full', { retryAfterSeconds: 7 }), 'i').headers,
    ).toContainEqual(['retry-after', '7'])
  })

  it.each(Object.keys(errorTable) as ErrorCode[])('has a status and a title for %s', (code) => {
    const response = problemResponse(new ServingError(code, 'message'), 'id-1')
    expect(response.status).toBe(errorTable[code].status)
    expect(bodyOf(new ServingError(code, 'message')).title).toMatch(/\w/)
    expect(response.headers).toContainEqual(['content-type', 'application/problem+json'])
  })

  it('keeps line breaks of a message out of the raw text', () => {
    expect(String(problemResponse(new BadInput('a\r\nb'), 'i').body)).not.toMatch(/[\r\n]/)
  })
})
