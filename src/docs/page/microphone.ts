const sampleRate = 16_000
/** Samples of a piece: 0.13 s. */
const pieceLength = 2048

/**
 * Gives sound to `take` until what it returns is called.
 *
 * @throws Error in words for a person.
 */
export async function record(take: (samples: Float32Array) => void): Promise<() => void> {
  // Browsers leave it out on pages that are not secure.
  const devices = navigator.mediaDevices as MediaDevices | undefined
  if (devices === undefined)
    throw new Error('Browsers give the microphone to pages of https and localhost alone.')
  const stream = await devices.getUserMedia({ audio: true }).catch((error: Error) => {
    const isDenied = error.name === 'NotAllowedError'
    throw new Error(
      isDenied
        ? 'The browser does not let this page use the microphone.'
        : `No sound: ${error.message}.`,
    )
  })
  const context = new AudioContext({ sampleRate })
  // The policy of the page admits its own script alone, which an AudioWorklet would have to load another beside.
  const recorder = context.createScriptProcessor(pieceLength, 1, 1)
  recorder.onaudioprocess = ({ inputBuffer }) => take(inputBuffer.getChannelData(0).slice())
  context.createMediaStreamSource(stream).connect(recorder)
  // It runs only if it leads to an output, and what it writes there is silence.
  recorder.connect(context.destination)
  return () => {
    recorder.onaudioprocess = null
    for (const track of stream.getTracks()) track.stop()
    void context.close()
  }
}
