/**
 * A resolve hook below tsx's. Without it, tsx compiles a service in a package without `"type": "module"` to CommonJS,
 * whose `require('serving')` loads a second copy of the framework. @module
 */
import type { ResolveHook } from 'node:module'

/** Resolves .ts and .mts files outside node_modules as ES modules. */
export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  const found = await nextResolve(specifier, context)
  return /^file:.*\.m?ts(?:[?#]|$)/.test(found.url) && !found.url.includes('/node_modules/')
    ? { ...found, format: 'module' }
    : found
}
