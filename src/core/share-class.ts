/** Classes whose objects several copies of the package know, as `serving` and `serving-io` side by side. @module */

/** Lets `instanceof` know objects that the same class of another copy has made. Subclasses know their own alone. */
export function shareClass(shared: abstract new (...args: never[]) => object, name: string): void {
  const brand = Symbol.for(`serving.${name}`)
  Object.defineProperty(shared.prototype, brand, { value: true })
  Object.defineProperty(shared, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      if (this !== shared) return Function.prototype[Symbol.hasInstance].call(this, value)
      return typeof value === 'object' && value !== null && brand in value
    },
  })
}
