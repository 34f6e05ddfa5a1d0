// node prepare.js <peer> <file>: makes a migrated database, as every start but the first finds it.
const [peer, file] = process.argv.slice(2)

if (peer === 'latchkey') {
  const { createAuth } = await import('../../dist/index.js')
  const { configuration } = await import('./peers/latchkey-settings.js')
  const auth = createAuth(configuration('http://localhost:3000', file))
  await auth.ready()
  await auth.close()
} else {
  const { getMigrations } = await import('better-auth/db/migration')
  const { configuration } = await import('./peers/better-auth-options.js')
  const { runMigrations } = await getMigrations(configuration('http://localhost:3000', file))
  await runMigrations()
}
process.exit()
