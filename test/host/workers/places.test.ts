import { expect, test } from 'vitest'
import { createPlaces } from '../../../src/host/workers/workers.js'

const most = { running: 2, waitingOfOne: 2, waiting: 3, waitMs: 1_000 }

function bed() {
  const timers = new Set<() => void>()
  const timer = (_milliseconds: number, callback: () => void) => {
    timers.add(callback)
    return () => void timers.delete(callback)
  }
  const wait = () => {
    for (const callback of [...timers]) callback()
    timers.clear()
  }
  return { places: createPlaces(most, timer), wait, timers }
}

test('one task a space and two in all run; the others go on in their order', async () => {
  const { places, timers } = bed()
  const order: string[] = []
  const placeA = await places.take('a')
  const placeB = await places.take('b')
  const again = places.take('a').then(() => order.push('a'))
  const third = places.take('c').then(() => order.push('c'))
  expect(timers.size).toBe(2)
  placeB.leave()
  await third
  placeA.leave()
  placeA.leave()
  await again
  expect(order).toEqual(['c', 'a'])
  expect(timers.size).toBe(0)
})

test('a place is wanted while a task waits that could run in it', async () => {
  const { places, wait } = bed()
  const [placeA, placeB] = [await places.take('a'), await places.take('b')]
  const wanted = () => [placeA.isWanted(), placeB.isWanted()]
  expect(wanted()).toEqual([false, false])
  const same = places.take('a')
  expect(wanted()).toEqual([true, false])
  const other = places.take('c')
  expect(wanted()).toEqual([true, true])
  wait()
  await Promise.allSettled([same, other])
  expect(wanted()).toEqual([false, false])
})

test('too many that wait are refused: of one space, and in all', async () => {
  const { places } = bed()
  await places.take('a')
  await places.take('b')
  for (const space of ['a', 'a', 'b']) void places.take(space)
  await expect(places.take('a')).rejects.toMatchObject({ code: 'space_busy' })
  await expect(places.take('c')).rejects.toMatchObject({ code: 'busy', details: { retryAfterSeconds: 5 } })
})

test('ATK-209 uploads that stall keep nobody waiting for ever', async () => {
  const { places, wait } = bed()
  const place = await places.take('a')
  await places.take('b')
  const [same, other] = [places.take('a'), places.take('c')]
  const refused = [
    expect(same).rejects.toMatchObject({ code: 'space_busy', message: expect.stringContaining('takes long') }),
    expect(other).rejects.toMatchObject({ code: 'busy' }),
  ]
  wait()
  await Promise.all(refused)
  // Those that gave up are in nobody's way.
  const last = places.take('d')
  place.leave()
  await last
})
