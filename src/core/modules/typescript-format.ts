/**
 * A resolve hook below tsx's. Without it, tsx compiles a service in a package without `"type": "module"` to CommonJS,
 * whose `require('serving')` loads a second copy of the framework. @module
 */
import type { ResolveFnOutput, ResolveHook } from 'node:module'

/** Makes .ts and .mts files outside node_modules ES modules. */
export function withModuleFormat(resolved: ResolveFnOutput): ResolveFnOutput {
  if (/^file:.*\.m?ts(?:[?#]|$)/.test(resolved.url) && !resolved.url.includes('/node_modules/'))
    return { ...resolved, format: 'module' }
  return resolved
}

/** The hook for `register`, whose thread loads this file. */
export const resolve: ResolveHook = async (specifier, context, nextResolve) =>
  withModuleFormat(await nextResolve(specifier, context))
