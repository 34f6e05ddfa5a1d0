import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWorkshop, type SpaceChild, type Workshop } from '../../support/space-child.js'

let workshop: Workshop
let child: SpaceChild
beforeAll(async () => {
  workshop = await openWorkshop()
  child = await workshop.start('code-cache')
})
afterAll(() => workshop.close())

test('ATK-230 no function of node:vm takes code that was compiled before, however it is given', async () => {
  const { polluted, ...outcomes } = JSON.parse((await child.ask('/dev/outcomes')).text)
  expect(Object.keys(outcomes)).toHaveLength(9)
  for (const [call, ways] of Object.entries<Record<string, string>>(outcomes)) {
    expect(ways.own, call).toBe('built_in_refused')
    for (const [way, outcome] of Object.entries(ways)) {
      expect(outcome, `${call} ${way}`).toMatch(/^(built_in_refused|not used)$/)
    }
  }
  for (const [call, found] of Object.entries<string[]>(polluted)) {
    expect(found, call).toHaveLength(3)
    for (const outcome of found) expect(outcome, call).toMatch(/^(built_in_refused|not used)$/)
  }
})

test('node:vm works otherwise: classes over Script, contexts, file names, and compiled code that it produces', async () => {
  expect(JSON.parse((await child.ask('/dev/works')).text)).toEqual({
    results: [42, 42, 42, 42, 42, 42],
    instances: [true, true, true],
    name: 'Script',
    produced: true,
    isNamed: true,
    statics: true,
  })
})
