import { existsSync } from 'node:fs'

/** Said once a run, so that nobody takes it for more than it is. */
export function setup() {
  console.log(
    'Without test/servers: npm run test:servers runs them on the PostgreSQL, MariaDB and Redis of this machine.',
  )
  if (!existsSync('/usr/bin/bwrap')) console.log('Without bubblewrap: the tests of the sandbox are skipped.')
}
