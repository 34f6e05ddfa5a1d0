import { expect, onTestFinished, test } from 'vitest'
import { createAccessFeed } from '../../src/guard/access-settings.js'
import type { Change } from '../../src/model/change.js'

const change: Change = { id: '1', atMs: 0, kind: 'setting', subject: 'allowList', version: null, until: 0 }

test('a change that is heard just when a read has ended is read as well', async () => {
  for (let turn = 1; turn < 8; turn += 1) {
    const listeners: ((change: Change | null) => void)[] = []
    let networks = ['192.0.2.1']
    const inForce: (readonly string[])[] = []
    const changeLater = async () => {
      for (let turns = 0; turns < turn; turns += 1) await null
      networks = ['198.51.100.1']
      for (const listener of listeners) listener(change)
    }
    const news = createAccessFeed({
      accessSettings: { read: async () => ({ jwksUrl: null, networks }) },
      revocations: { subscribe: (listener) => void listeners.push(listener) },
      timer: () => () => {},
      clock: { monotonicMs: () => 0 },
      logger: { warn: () => {}, error: () => {} },
      use: (record) => {
        inForce.push(record.networks)
        if (inForce.length === 1) void changeLater()
      },
    })
    onTestFinished(news.close)
    await news.start()
    await expect.poll(() => [inForce.at(-1), news.isCurrent()], { interval: 1 }).toEqual([['198.51.100.1'], true])
  }
})
