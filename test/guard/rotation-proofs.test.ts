import { describe, expect, it, vi } from 'vitest'
import { RotationProofs } from '../../src/guard/rotation-proofs.js'
import type { Proof } from '../../src/store/sessions.js'
import { createTestClock } from '../../src/testing/clock.js'

/** The port itself, failing on demand: what a store does with proofs is in its contract, what they are for in the rotation tests. */
function world() {
  const clock = createTestClock(1_700_000_000_000)
  const state = { down: false, written: [] as Proof[][], begun: 0, hanging: Promise.resolve() }
  const proofs = new RotationProofs({
    sessions: {
      async prove(batch) {
        state.begun += 1
        await state.hanging
        if (state.down) throw new Error('down')
        state.written.push([...batch])
      },
    },
    clock: { monotonicMs: clock.now },
    timer: clock.timer,
  })
  const note = (sessionId: string, counter: number) => proofs.note(sessionId, counter, clock.now())
  return { proofs, clock, state, note, idsWritten: () => state.written.flat().map(({ sessionId }) => sessionId) }
}

function hang(state: { hanging: Promise<void> }): () => void {
  let release = () => {}
  state.hanging = new Promise((resolve) => {
    release = resolve
  })
  return release
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

  it('cost the same for each batch, however many wait', async () => {
    const { clock, note } = world()
    for (let index = 0; index < 60_000; index += 1) note(`s${index}`, 0)
    await clock.advance('1s')
    const places = vi.spyOn(Map.prototype, 'set')
    for (let batch = 0; batch < 30; batch += 1) {
      for (let index = 0; index < 400; index += 1) note(`s${batch}-${index}`, 0)
      await clock.advance(50)
    }
    const taken = places.mock.calls.length
    places.mockRestore()
    // Three for each of the 6,000 written: as it is noted, put into its batch, and remembered. A copy of all takes 50,000.
    expect(taken).toBeGreaterThan(15_000)
    expect(taken).toBeLessThan(25_000)
  })

  it('wait in bounded memory while the store is down: one more is left out, and counts once it is seen again', async () => {
    const { clock, state, note, idsWritten } = world()
    state.down = true
    for (let index = 0; index < 50_010; index += 1) note(`s${index}`, 0)
    await clock.advance('1m')
    note('s49999', 1)
    state.down = false
    await clock.advance('2m')
    expect(new Set(idsWritten()).size).toBe(50_000)
    expect(state.written.flat().filter(({ sessionId }) => sessionId === 's49999')).toMatchObject([{ counter: 1 }])
    expect(idsWritten()).not.toContain('s50000')
    note('s50000', 0)
    await clock.advance('1s')
    expect(idsWritten()).toContain('s50000')
  })

  it.each([false, true])(
    'of sessions seen again and again take no place from others (store down: %s)',
    async (down) => {
      const { clock, state, note, idsWritten } = world()
      state.down = down
      for (let time = 0; time < 6; time += 1) {
        for (let index = 0; index < 20_000; index += 1) note(`s${index}`, 0)
        await clock.advance('1m')
      }
      note('new', 0)
      await clock.advance('1s')
      if (!down) expect(state.written.at(-1)).toMatchObject([{ sessionId: 'new' }])
      state.down = false
      await clock.advance('2m')
      expect(idsWritten()).toHaveLength(20_001)
      expect(new Set(idsWritten()).size).toBe(20_001)
    },
  )

  it('of many sessions seen again while the store is down leave room for a new one after the next attempt', async () => {
    const { clock, state, note, idsWritten } = world()
    state.down = true
    for (let time = 0; time < 4; time += 1) {
      for (let index = 0; index < 46_000; index += 1) note(`s${index}`, 0)
      await clock.advance('1m')
    }
    note('new', 0)
    state.down = false
    await clock.advance('2m')
    expect(idsWritten()).toContain('new')
    expect(new Set(idsWritten()).size).toBe(46_001)
  })

  it('are dated by the first sight of that rotation, in one batch as across several', async () => {
    const { proofs, clock, state, note } = world()
    note('a', 1)
    note('b', 1)
    await clock.advance(300)
    note('a', 1)
    for (let index = 0; index < 200; index += 1) note(`s${index}`, 0)
    await clock.advance(200)
    note('a', 1)
    note('b', 1)
    await proofs.settle('b')
    expect(state.written).toEqual([[{ sessionId: 'b', counter: 1, ageMs: 500 }]])
    await clock.advance('1s')
    expect(state.written.flat().filter(({ sessionId }) => sessionId.length === 1)).toEqual([
      { sessionId: 'b', counter: 1, ageMs: 500 },
      { sessionId: 'a', counter: 1, ageMs: 1_000 },
    ])
  })

  it('keep their newest rotation and its first sight where they come together again', async () => {
    const { clock, state, note } = world()
    state.down = true
    note('a', 2)
    note('b', 1)
    await clock.advance('1s')
    note('a', 1)
    note('a', 2)
    note('b', 2)
    state.down = false
    await clock.advance('1m')
    expect(state.written).toMatchObject([
      [
        { sessionId: 'a', counter: 2, ageMs: 3_000 },
        { sessionId: 'b', counter: 2, ageMs: 2_000 },
      ],
    ])
  })

  it('make room for others between two batches, too, and keep the newest rotation then', async () => {
    const { clock, state, note } = world()
    const release = hang(state)
    note('first', 0)
    await clock.advance('1s')
    for (let counter = 1; counter <= 5; counter += 1)
      for (let index = 0; index < 12_000; index += 1) note(`s${index}`, counter)
    note('new', 0)
    release()
    await clock.advance('2m')
    const counters = new Map(state.written.flat().map(({ sessionId, counter }) => [sessionId, counter]))
    expect(counters.size).toBe(12_002)
    expect(counters.get('new')).toBe(0)
    expect([counters.get('s0'), counters.get('s11999')]).toEqual([5, 5])
  })

  it('are of the newest rotation, whichever order they came in', async () => {
    const { clock, state, note } = world()
    const others = (name: string) => {
      for (let index = 0; index < 200; index += 1) note(`${name}${index}`, 0)
    }
    note('up', 1)
    note('down', 2)
    others('a')
    note('up', 2)
    note('down', 1)
    others('b')
    await clock.advance('5s')
    const counters = (id: string) => state.written.flat().filter(({ sessionId }) => sessionId === id)
    expect(counters('up').at(-1)).toMatchObject({ counter: 2 })
    expect(counters('down')).toMatchObject([{ counter: 2 }])
  })

  it('are settled for one session at once, with the newest that was seen', async () => {
    const { proofs, clock, state, note } = world()
    note('a', 1)
    for (let index = 0; index < 300; index += 1) note(`s${index}`, 0)
    note('a', 2)
    await clock.advance(10)
    await proofs.settle('a')
    await proofs.settle('a')
    await proofs.settle('nobody')
    expect(state.written).toEqual([[{ sessionId: 'a', counter: 2, ageMs: 10 }]])
  })

  it('are not written a second time while the store takes its time', async () => {
    const { clock, state, note, idsWritten } = world()
    const release = hang(state)
    note('a', 0)
    await clock.advance('1s')
    note('b', 0)
    await clock.advance('20s')
    expect(state.begun).toBe(1)
    release()
    await clock.advance('1s')
    expect(idsWritten()).toEqual(['a', 'b'])
  })

  it('are waited for by who needs them settled, where they are on their way', async () => {
    const { proofs, clock, state, note, idsWritten } = world()
    const release = hang(state)
    note('a', 0)
    await clock.advance('1s')
    note('a', 1)
    const settled = proofs.settle('a')
    expect(state.begun).toBe(1)
    release()
    await settled
    expect(state.written.map((batch) => batch[0])).toMatchObject([
      { sessionId: 'a', counter: 0 },
      { sessionId: 'a', counter: 1 },
    ])
    await clock.advance('1m')
    expect(idsWritten()).toEqual(['a', 'a'])
  })

  it('are settled anew where the store failed on the way', async () => {
    const { proofs, clock, state, note, idsWritten } = world()
    const release = hang(state)
    state.down = true
    note('a', 0)
    await clock.advance('1s')
    const settled = proofs.settle('a')
    release()
    await expect(settled).rejects.toThrow('down')
    state.down = false
    await proofs.settle('a')
    expect(idsWritten()).toEqual(['a'])
  })

  it('are tried once more when the process ends while the store fails, and then given up', async () => {
    const { proofs, clock, state, note } = world()
    const release = hang(state)
    state.down = true
    note('a', 0)
    await clock.advance('1s')
    const closed = proofs.close()
    release()
    await closed
    await clock.advance('1m')
    expect(state.begun).toBe(2)
    expect(state.written).toEqual([])
  })

  it('are all written when the process ends, and those that are on their way not again', async () => {
    const { proofs, clock, state, note, idsWritten } = world()
    const release = hang(state)
    for (let index = 0; index < 500; index += 1) note(`s${index}`, 0)
    await clock.advance('1s')
    const closed = proofs.close()
    release()
    await closed
    expect(state.written.map((batch) => batch.length)).toEqual([200, 200, 100])
    expect(new Set(idsWritten()).size).toBe(500)
    await clock.advance('1m')
    expect(state.begun).toBe(3)
  })
})
