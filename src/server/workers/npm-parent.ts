/** Notices that npm has ended, which passes a signal to the shell between it and this process only. @module */

const checkMs = 250

/**
 * Calls `onGone` when a script of npm, pnpm or yarn has started this process and its parent ends: npm 11 sends
 * SIGTERM to the shell between, which does not pass it on.
 */
export function watchNpmParent(onGone: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    onGone()
  }, checkMs).unref()
}
