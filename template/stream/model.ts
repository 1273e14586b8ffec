/** The model: each word is followed by the one that followed it here. Put your own in its place. */
const words = 'the model reads one word and says the next one as soon as it is found'.split(' ')

export function load() {
  return {
    /** Yields the words that follow a text, one by one. */
    *complete(text: string) {
      const last = text.trim().split(/\s+/).at(-1) ?? ''
      for (const word of words.slice(words.indexOf(last) + 1)) yield `${word} `
    },
  }
}
