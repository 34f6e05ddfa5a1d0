import { PassThrough } from 'node:stream'
import { describe, expect, test, vi } from 'vitest'
import { readPipe } from '../../../src/host/children/child-process.js'
import { createTestClock } from '../../../src/testing/clock.js'

function open() {
  const pipe = new PassThrough()
  const clock = createTestClock()
  const messages: string[] = []
  const [onFlood, onEnd] = [vi.fn(), vi.fn()]
  readPipe(pipe, { monotonic: clock.monotonic, onMessage: (kind) => messages.push(kind), onFlood, onEnd })
  return { pipe, clock, messages, onFlood, onEnd }
}

const beat = '{"kind":"heartbeat"}\n'

describe('the pipe from a child', () => {
  test('gives the kind of each line, however the lines are divided, and ignores lines of another form', async () => {
    const { pipe, messages, onFlood, onEnd } = open()
    for (const byte of Buffer.from(`{"kind":"listening"}\n${beat}`)) pipe.write(Buffer.of(byte))
    pipe.write(`no JSON\n[1]\n{"kind":1}\n\n${beat}`)
    await vi.waitFor(() => expect(messages).toEqual(['listening', 'heartbeat', 'heartbeat']))
    pipe.end()
    await vi.waitFor(() => expect(onEnd).toHaveBeenCalled())
    expect(onFlood).not.toHaveBeenCalled()
  })

  test.each([
    ['a line of 4 KiB', `${'x'.repeat(4_096)}\n`, false],
    ['a line of 4 KiB and a byte', `${'x'.repeat(4_097)}\n`, true],
    ['4 KiB and a byte without a line end', 'x'.repeat(4_097), true],
    ['50 lines in a second', beat.repeat(50), false],
    ['51 lines in a second', beat.repeat(51), true],
    ['empty lines', '\n'.repeat(51), true],
  ])('ATK-185 takes or refuses %s', async (_what, text, isFlood) => {
    const { pipe, onFlood } = open()
    pipe.write(text)
    await vi.waitFor(() => expect(pipe.readableLength).toBe(0))
    await new Promise((resolve) => setImmediate(resolve))
    expect(onFlood).toHaveBeenCalledTimes(isFlood ? 1 : 0)
    expect(pipe.destroyed).toBe(isFlood)
  })

  test('ATK-185 counts lines anew in each second', async () => {
    const { pipe, clock, messages, onFlood } = open()
    for (let second = 0; second < 5; second += 1) {
      pipe.write(beat.repeat(50))
      await vi.waitFor(() => expect(messages).toHaveLength((second + 1) * 50))
      await clock.advance('1s')
    }
    expect(onFlood).not.toHaveBeenCalled()
  })
})
