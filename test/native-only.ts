import { describe, it } from 'vitest'
import { nativeStatus } from '../src/core/native/add-on.ts'

/** For what only the C++ add-on does: skipped by name where it is not loaded, as with SERVING_NATIVE=off. */
export const describeNative = describe.skipIf(!nativeStatus.loaded)

/** As {@link describeNative}, for one test. */
export const itNative = it.skipIf(!nativeStatus.loaded)
