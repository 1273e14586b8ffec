import { setTimeout } from 'node:timers/promises'
import type { ModelPlace } from 'serving'

/** Tells where it was loaded; a call waits, so that those beside it go to other threads. */
export const load = (_: unknown, { index, device }: ModelPlace) => ({
  async place() {
    await setTimeout(300)
    return { index, device, visible: process.env.CUDA_VISIBLE_DEVICES }
  },
  end: () => process.exit(1),
})
