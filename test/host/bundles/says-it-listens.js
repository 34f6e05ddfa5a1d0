// Says so at import, and never listens.
import { writeSync } from 'node:fs'

writeSync(3, '{"kind":"listening"}\n')
await new Promise((resolve) => setTimeout(resolve, 60_000))

export default {}
