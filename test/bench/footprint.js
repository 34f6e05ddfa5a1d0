// node footprint.js <peer> <import | open> [file]: what one fresh process pays. Reports to its parent.
const [peer, what, file] = process.argv.slice(2)
const measures = { import: importMilliseconds, open: openMebibytes }
const value = await measures[what]()
process.send(value, () => process.exit())

async function importMilliseconds() {
  const began = performance.now()
  await import(peer === 'latchkey' ? '../../dist/index.js' : peer)
  return performance.now() - began
}

/** Memory of the whole process once the store is open. The file exists and is migrated, as on every start but the first. */
async function openMebibytes() {
  await (peer === 'latchkey' ? openLatchkey() : openBetterAuth())
  return process.memoryUsage().rss / 2 ** 20
}

async function openLatchkey() {
  const { createAuth } = await import('../../dist/index.js')
  const { configuration } = await import('./peers/latchkey-settings.js')
  await createAuth(configuration('http://localhost:3000', file)).ready()
}

async function openBetterAuth() {
  const { betterAuth } = await import('better-auth')
  const { configuration } = await import('./peers/better-auth-options.js')
  const context = await betterAuth(configuration('http://localhost:3000', file)).$context
  // The first query, so that the file is really open; ours has migrated by then.
  await context.adapter.count({ model: 'user' })
}
