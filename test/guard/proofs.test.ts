import { describe, expect, it } from 'vitest'
import { ProofBatches } from '../../src/guard/proofs.js'
import type { Proof } from '../../src/store/sessions.js'
import { createTestClock } from '../../src/testing/clock.js'

/** The port itself, failing on demand: what a store does with proofs is in its contract, what they are for in the rotation tests. */
function world() {
  const clock = createTestClock(1_700_000_000_000)
  const state = { down: false, written: [] as Proof[][] }
  const proofs = new ProofBatches({
    sessions: {
      async prove(batch) {
        if (state.down) throw new Error('down')
        state.written.push([...batch])
      },
    },
    clock: { monotonicMs: clock.now },
    timer: clock.timer,
  })
  const note = (sessionId: string, counter: number) => proofs.note(sessionId, counter, clock.now())
  return { clock, state, note, idsWritten: () => state.written.flat().map(({ sessionId }) => sessionId) }
}

describe('proofs of what a verifier has seen', () => {
  it('are written once a second, each sight once', async () => {
    const { clock, note, idsWritten } = world()
    note('a', 1)
    note('a', 1)
    await clock.advance('1s')
    note('a', 1)
    note('a', 0)
    await clock.advance('1m')
    expect(idsWritten()).toEqual(['a'])
    note('a', 2)
    await clock.advance('1s')
    expect(idsWritten()).toEqual(['a', 'a'])
  })

  it('that are more than one statement takes do not wait a second for each of them', async () => {
    const { clock, state, note } = world()
    for (let index = 0; index < 1_000; index += 1) note(`s${index}`, 0)
    await clock.advance('2s')
    expect(state.written.map((batch) => batch.length)).toEqual([200, 200, 200, 200, 200])
  })

  it('wait in bounded memory while the store is down: one more is left out, and counts once it is seen again', async () => {
    const { clock, state, note, idsWritten } = world()
    state.down = true
    for (let index = 0; index < 50_010; index += 1) note(`s${index}`, 0)
    await clock.advance('1m')
    state.down = false
    await clock.advance('2m')
    expect(new Set(idsWritten()).size).toBe(50_000)
    expect(idsWritten()).toContain('s49999')
    expect(idsWritten()).not.toContain('s50000')
    note('s50000', 0)
    await clock.advance('1s')
    expect(idsWritten()).toContain('s50000')
  })
})
