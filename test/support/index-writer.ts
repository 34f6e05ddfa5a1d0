// A process that builds a unique index while it writes, until it is killed. It prints each step that was confirmed.
import { createDataThreads } from '../../src/host/storage/threads.js'

const [place = '', program = ''] = process.argv.slice(2)
const threads = createDataThreads({
  threads: 1,
  world: { now: Date.now, timer: () => () => {} },
  mayWrite: () => true,
  onFault: () => {},
  program: new URL(program),
})
const { documents, indexes } = await threads.open({ spaceId: 'one', ...JSON.parse(place) })

async function write(): Promise<never> {
  for (let n = 0; ; n += 1) await documents.put('notes', `w${n}`, JSON.stringify({ n: -1 - n }), 'any')
}

async function build(): Promise<void> {
  await indexes.create('notes', 'n', true)
  for (;;) {
    const { processed, isReady } = await indexes.build('notes', 'n')
    process.stdout.write(`${JSON.stringify({ processed })}\n`)
    if (isReady) return
  }
}

await Promise.race([write(), build()])
