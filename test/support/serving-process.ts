// `latchkey serve` with a settings file and short times to stop. Its argument is the file.

import { serve } from '../../src/host/serve.js'

const config = process.argv[2] ?? ''
const times = { noticeMs: 300, drainMs: 1_000 }
const code = await serve({ config, masterKeyFile: null, stopTimes: times }).then(
  (asked) => (asked ? 0 : 1),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    return 1
  },
)
process.stdout.write(`ended with ${process.env.LATCHKEY_MASTER_KEY ?? 'no key'} in the environment\n`)
process.exit(code)
