/**
 * Values that may be there now or later.
 * @module
 */

/** A value now or later. The pipeline awaits promises only, so that what is ready at once is answered at once. */
export type MaybePromise<T> = T | Promise<T>
