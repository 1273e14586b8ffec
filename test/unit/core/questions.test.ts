import { describe, expect, it } from 'vitest'
import { Questions } from '../../../src/core/questions.ts'

describe('questions', () => {
  it('get their own answers, in whatever order these come', async () => {
    const questions = new Questions()
    const sent: number[] = []
    const asked = ['a', 'b'].map(() => questions.ask<string>((id) => sent.push(id)))
    expect(questions.size).toBe(2)
    questions.answer(sent[1], 'b')
    questions.answer(sent[1], 'again')
    questions.answer(sent[0], 'a')
    expect(await Promise.all(asked)).toEqual(['a', 'b'])
    expect(questions.size).toBe(0)
  })

  it('fail with the error that comes in place of an answer, alone', async () => {
    const questions = new Questions()
    const sent: number[] = []
    const [wrong, right] = ['a', 'b'].map(() => questions.ask((id) => sent.push(id)))
    questions.refuse(sent[0], new Error('no'))
    questions.answer(sent[1], 'yes')
    await expect(wrong).rejects.toThrow('no')
    expect(await right).toBe('yes')
  })

  it('that cannot be sent are not open', async () => {
    const questions = new Questions()
    const send = () => {
      throw new Error('cannot be cloned')
    }
    await expect(questions.ask(send)).rejects.toThrow('cannot be cloned')
    expect(questions.size).toBe(0)
  })

  it('fail when the other side ends, as those after that', async () => {
    const questions = new Questions()
    const open = questions.ask(() => {})
    questions.end(new Error('it has ended'))
    questions.end(new Error('again'))
    await expect(open).rejects.toThrow('it has ended')
    await expect(questions.ask(() => {})).rejects.toThrow('it has ended')
  })
})
