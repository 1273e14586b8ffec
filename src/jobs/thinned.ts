/** **Units**: milliseconds. */
const pauseMs = 100

/** Largest partial: one event must not hold more than a read of events. **Units**: characters. */
const maxPartial = 16 * 1024

type Send = (kind: 'progress' | 'partial', data: string) => Promise<void>

/**
 * Sends the first report at once. Of reports within a moment after that it joins partials, and keeps the last
 * progress: each event is a write of the store.
 */
export function thinnedBy(send: Send) {
  let timer: NodeJS.Timeout | undefined
  let partials = ''
  let progress: string | undefined
  let sending: Promise<void> = Promise.resolve()

  async function sendAll(text: string, value: string | undefined): Promise<void> {
    for (let at = 0; at < text.length; ) {
      const piece = pieceOf(text, at)
      await send('partial', piece)
      at += piece.length
    }
    if (value !== undefined) await send('progress', value)
  }

  /** Sends what waits; workers call it before they end the attempt. */
  function flush(): Promise<void> {
    const [text, value] = [partials, progress]
    if (text === '' && value === undefined) return sending
    partials = ''
    progress = undefined
    sending = sending.then(() => sendAll(text, value))
    return sending
  }

  /** Resolves when more may be reported: a generator runs ahead of the store by one partial at most. */
  const report: Send = (kind, data) => {
    if (kind === 'progress') progress = data
    else partials += data
    if (timer === undefined) {
      timer = setTimeout(() => {
        timer = undefined
        void flush()
      }, pauseMs)
      return flush()
    }
    return partials.length < maxPartial ? Promise.resolve() : flush()
  }

  return { report, flush }
}

/** @returns the next piece, which ends before a pair of surrogates rather than within it. */
function pieceOf(text: string, at: number): string {
  const end = at + maxPartial
  const last = end < text.length ? text.charCodeAt(end - 1) : 0
  return text.slice(at, last >= 0xd800 && last < 0xdc00 ? end - 1 : end)
}
