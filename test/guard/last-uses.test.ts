import { describe, expect, it } from 'vitest'
import { LastUses } from '../../src/guard/last-uses.js'
import type { ApiTokenUse } from '../../src/store/api-tokens.js'
import { createTestClock } from '../../src/testing/clock.js'

const start = 1_700_000_000

/** The port itself, failing on demand: what a store does with uses is in its contract. */
function world() {
  const clock = createTestClock(start * 1000)
  const state = { down: false, hanging: Promise.resolve(), meanwhile: () => {}, written: [] as ApiTokenUse[][] }
  const lastUses = new LastUses({
    apiTokens: {
      async touch(uses) {
        await state.hanging
        if (state.down) throw new Error('down')
        state.meanwhile()
        state.written.push([...uses])
      },
    },
    timer: clock.timer,
  })
  const note = (tokenId: string) => lastUses.note(tokenId, Math.floor(clock.now() / 1000))
  return { clock, state, lastUses, note }
}

describe('the last uses of API tokens', () => {
  it('are written every ten seconds, the latest of each, and not at all while nobody uses one', async () => {
    const { clock, state, note } = world()
    note('a')
    note('b')
    await clock.advance('9s')
    note('a')
    expect(state.written).toEqual([])
    await clock.advance('1s')
    const both = [
      { id: 'a', at: start + 9 },
      { id: 'b', at: start },
    ]
    expect(state.written).toEqual([both])
    await clock.advance('1m')
    expect(state.written).toEqual([both])
  })

  it('wait for a store that fails, without being lost', async () => {
    const { clock, state, note } = world()
    state.down = true
    note('a')
    await clock.advance('1m')
    state.down = false
    await clock.advance('10s')
    expect(state.written).toEqual([[{ id: 'a', at: start }]])
  })

  it('that come while a batch is on its way are in the next', async () => {
    const { clock, state, note } = world()
    note('a')
    state.meanwhile = () => {
      state.meanwhile = () => {}
      clock.step(5_000)
      note('a')
    }
    await clock.advance('10s')
    await clock.advance('10s')
    expect(state.written.flat()).toEqual([
      { id: 'a', at: start },
      { id: 'a', at: start + 15 },
    ])
  })

  it('are written at the end, as far as the store takes them, and no more after it', async () => {
    const { clock, state, lastUses, note } = world()
    for (let index = 0; index < 450; index += 1) note(`token-${index}`)
    await lastUses.close()
    expect(state.written.map((batch) => batch.length)).toEqual([200, 200, 50])
    note('late')
    await clock.advance('1m')
    expect(state.written).toHaveLength(3)

    const broken = world()
    broken.state.down = true
    broken.note('a')
    await broken.lastUses.close()
    expect(broken.state.written).toEqual([])
  })

  it('are not written a second time while the store takes its time', async () => {
    const { clock, state, note } = world()
    let release = () => {}
    state.hanging = new Promise((resolve) => {
      release = resolve
    })
    note('a')
    await clock.advance('10s')
    note('b')
    await clock.advance('1m')
    release()
    await clock.advance('10s')
    expect(state.written.flat().map(({ id }) => id)).toEqual(['a', 'b'])
  })
})
