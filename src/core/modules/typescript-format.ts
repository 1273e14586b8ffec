/**
 * A resolve hook for node:module, run below tsx's: every .ts and .mts file outside node_modules is an ES module.
 *
 * Without it, a service in a package without `"type": "module"` would be compiled to CommonJS, whose
 * `require('serving')` makes a second copy of the framework that this process does not recognise (seen with tsx 4.23 on
 * Node 20.20).
 * @module
 */
import type { ResolveHook } from 'node:module'

/** Resolves TypeScript files with the format `module`. */
export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  const found = await nextResolve(specifier, context)
  return /^file:.*\.m?ts(?:[?#]|$)/.test(found.url) && !found.url.includes('/node_modules/')
    ? { ...found, format: 'module' }
    : found
}
