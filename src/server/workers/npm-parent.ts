/**
 * Notices that npm has ended, which passes a signal to the shell between it and this process only.
 * @module
 */

/** **Units**: milliseconds. */
const checkMs = 250

/**
 * Calls `onGone` once when this process was started by a script of npm, pnpm or yarn, and its parent has ended: npm 11
 * sends SIGTERM to `sh -c "serving serve …"`, which ends without a word to its child.
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
