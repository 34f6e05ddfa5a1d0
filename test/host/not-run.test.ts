import { expect, test } from 'vitest'
import { namesNotRun, requireManifest } from '../../src/host/runner/exchange/manifest.js'

const manifest = (more: object) => requireManifest({ authhooks: {}, routehooks: {}, globalhooks: [], ...more })

test('workers, queues, jobs and realtime channels are named, a worker once', () => {
  const realtime = Object.assign(() => {}, { '/chat': [] })
  const named = namesNotRun(
    manifest({
      workerhooks: { mail: [] },
      queuehooks: { mail: [], orders: [] },
      jobhooks: { '*/5 * * * *': [] },
      realtime,
    }),
  )
  expect(named).toEqual(['worker mail', 'queue orders', 'cron job */5 * * * *', 'realtime channel /chat'])
  expect(namesNotRun(manifest({ realtime: 1, queuehooks: null }))).toEqual([])
})

test('the list stays within a line of the pipe, whatever the names are', () => {
  for (const letter of ['a', '\0', 'é', '"', '𝄞']) {
    const queues = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, index) => [letter.repeat(index % 90) + index, []]),
    )
    const line = JSON.stringify({ kind: 'listening', notRun: namesNotRun(manifest({ queuehooks: queues })) })
    expect(Buffer.byteLength(line)).toBeLessThan(4_096)
    expect(line.length).toBeGreaterThan(1_000)
  }
})
