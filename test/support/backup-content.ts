import { type backupWorld, inForce } from './backup-world.js'

type World = Awaited<ReturnType<typeof backupWorld>>

/** Collections with their documents, indexes, and pairs. */
export async function contentOf({ ports, id }: Pick<World, 'ports' | 'id'>) {
  const snapshot = await (await inForce(ports, id)).snapshot()
  try {
    const collections: Record<string, unknown> = {}
    for (const { name, count, bytes, indexes } of await snapshot.list()) {
      const { documents } = await snapshot.scan(name, { after: null, reverse: false, limit: 1_000 })
      const fields = indexes.map(({ field, isUnique, state }) => `${field} ${isUnique} ${state}`)
      collections[name] = { count, bytes, fields, bodies: documents.map(({ body }) => body) }
    }
    return { collections, pairs: (await snapshot.pairs(null)).rows }
  } finally {
    await snapshot.close()
  }
}

/** Fills a space with what is easily lost. */
export async function fill({ data }: World): Promise<void> {
  const { documents, indexes, keyValues } = data
  for (let n = 0; n < 1_200; n += 1) {
    await documents.put('notes', `n${n}`, `{"_id":"n${n}", "n": ${n}.0, "text":"öl \\u0000 ${n}"}`, 'any')
  }
  await documents.put('odd.names-1', '__proto__', '{"_id":"__proto__","__proto__":{"a":1},"constructor":2}', 'any')
  await documents.put('latchkey_users', 'u', '{"_id":"u"}', 'any')
  await documents.put('emptied', 'x', '{"_id":"x"}', 'any')
  await documents.remove('emptied', 'x', 'any')
  for (const field of ['n', 'text']) {
    await indexes.create('notes', field, field === 'text')
    while (!(await indexes.build('notes', field)).isReady);
  }
  await keyValues.set({ keyspace: 'a\0b', key: '__proto__' }, 'ö "quoted"\n', null)
  await keyValues.set({ keyspace: 'a', key: 'z' }, '1', 10 * 365 * 24 * 60 * 60 * 1000)
}
