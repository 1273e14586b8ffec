/**
 * Key of the function of an API. Not a public name: the stages and the runner of live streams alone call functions, for
 * whom {@link Visit} or an adapter of `serving/io` has let in. @module
 */
export const functionOf: unique symbol = Symbol('function')
