import { expect, test } from 'vitest'
import { lateModule } from '../../src/lib/late-module.js'

test('is loaded once, however often it is asked for', async () => {
  let loads = 0
  const late = lateModule(async () => {
    loads += 1
    return { nth: loads }
  }, neverAtOnce)
  await Promise.all([late.load(), late.load()])
  await late.load()
  expect([late.get().nth, loads]).toEqual([1, 1])
})

test('is tried again after it could not be loaded', async () => {
  let loads = 0
  const late = lateModule(async () => {
    loads += 1
    if (loads === 1) throw new Error('EMFILE')
    return { nth: loads }
  }, neverAtOnce)
  await expect(late.load()).rejects.toThrow('EMFILE')
  await late.load()
  expect(late.get().nth).toBe(2)
})

function neverAtOnce(): never {
  throw new Error('nobody loads it at once here')
}
