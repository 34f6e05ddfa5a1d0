// A process that writes to a space until it is killed, and prints each version that was confirmed.
import { createDataThreads } from '../../src/host/storage/threads.js'

const [file = '', program = ''] = process.argv.slice(2)
const threads = createDataThreads({
  threads: 1,
  world: { now: Date.now, timer: () => () => {} },
  mayWrite: () => true,
  onFault: () => {},
  program: new URL(program),
})
const { documents, keyValues } = await threads.open({ spaceId: 'one', file })

async function write(writer: number): Promise<never> {
  for (let n = 0; ; n += 1) {
    const id = `${writer}-${n}`
    const version = await documents.put('notes', id, JSON.stringify({ n }), 'absent')
    const sum = await keyValues.increment({ keyspace: '', key: `w${writer}` }, 1, null)
    process.stdout.write(`${JSON.stringify({ id, version, writer, sum })}\n`)
    if (n % 10 === 9) {
      const rows = Array.from({ length: 20 }, (_, row) => ({ id: `${writer}-${n}-${row}`, body: '{}' }))
      await documents.putMany('lists', rows, 'absent')
    }
  }
}

await Promise.race([0, 1, 2, 3].map(write))
