import { describe, expect, test } from 'vitest'
import { io, Service } from '../../../src/index.ts'

const text = new io.Text()
const upper = (value: string) => value.toUpperCase()
const reply = async function* () {
  yield 'hello'
}

describe('options of a service', () => {
  test.each<[string, object, RegExp]>([
    ['an unknown one', { docs: 'x' }, /^unknown option "docs" for Service; it has doc, version, /],
    ['auth of null, which would let everybody in', { auth: null }, /^expected a hook for auth of /],
    [
      'auth that is no function',
      { auth: 'key' },
      /^expected a hook for auth of Service, received "key"/,
    ],
    ['an empty version', { version: '' }, /^expected a version for version of Service/],
    [
      'models that are no list',
      { models: {} },
      /^expected a list of Runners for models of Service/,
    ],
    [
      'a path that is no text',
      { publicPaths: [['/app']] },
      /^expected a list of paths for publicPaths of /,
    ],
    ['a path without /', { publicPaths: ['app'] }, /^expected a list of paths for publicPaths of /],
    ['mcp that is no boolean', { mcp: 1 }, / for mcp of Service, received 1/],
    [
      'unknown paths',
      { openapi: { include: ['x'] } },
      /^expected one of .*openapi.include of Service/,
    ],
  ])('refuses %s', (_, options, message) => {
    expect(() => new Service('tested', options)).toThrow(message)
  })
})

describe('options of a function', () => {
  const both = { input: text, output: text }

  test.each<[string, object, RegExp]>([
    [
      'an option of another method',
      { ...both, query: {} },
      /^unknown option "query" for svc.api; /,
    ],
    ['no output', { input: text }, /^expected an IODescriptor for output of upper, received undef/],
    ['no input', { output: text }, /^expected an IODescriptor for input of upper, received undefi/],
    [
      'auth of true',
      { ...both, auth: true },
      /^expected a hook or false for auth of upper, receiv/,
    ],
    ['no requests', { ...both, maxInFlight: 0 }, / for maxInFlight of upper, received 0/],
    ['a wrong job option', { ...both, async: { retries: -1 } }, / for retries of async of upper/],
    [
      'a name that is no segment',
      { ...both, name: 'a b' },
      / for the name of an API, received "a b"/,
    ],
  ])('refuses %s', (_, options, message) => {
    expect(() => new Service('tested').api(options as typeof both, upper)).toThrow(message)
  })

  test.each<[string, object, RegExp]>([
    [
      'an input of parts',
      { ...both, input: new io.Multipart({ text }) },
      /of one value for input of talk/,
    ],
    [
      'a long idle time',
      { ...both, idleTimeout: '16m' },
      /^expected a time from 100ms to 15m for i/,
    ],
    ['a path as origin', { ...both, origins: ['https://a/b'] }, / for origins of talk, received/],
    ['a name of its own', { ...both, route: 'x' }, /^unknown option "route" for svc.live; it has /],
  ])('of a live stream, refuses %s', (_, options, message) => {
    expect(() => new Service('tested').live('talk', options as typeof both, reply)).toThrow(message)
  })
})
