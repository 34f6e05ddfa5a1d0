// `latchkey serve` with a settings file and short times to stop. Its argument is the file.

import { serve } from '../../src/host/serve.js'

const config = process.argv[2] ?? ''
const code = await serve({ config, masterKeyFile: null, stopTimes: { noticeMs: 300, drainMs: 1_000 } })
process.stdout.write(`ended with ${process.env.LATCHKEY_MASTER_KEY ?? 'no key'} in the environment\n`)
process.exit(code)
