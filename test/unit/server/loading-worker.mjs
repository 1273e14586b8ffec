// A worker process that tells what it hears. Once it is ready it answers each question.
const heard = []
process.on('message', (message) => {
  if (message.kind === 'question') {
    heard.push(message.question.about)
    if (heard.isReady) process.send({ kind: 'answer', id: message.id, answer: [] })
  } else if (message.kind === 'load') {
    heard.isReady = true
    process.send({ kind: 'ready' })
  } else process.send({ kind: 'heard', heard })
})
process.send({ kind: 'loaded' })
