/** The model of promises.service.ts. @module */
export function load() {
  return {
    /** Computes for so many milliseconds, and answers them. */
    spin(ms: number): string {
      const until = performance.now() + ms
      while (performance.now() < until);
      return String(ms)
    },
  }
}
