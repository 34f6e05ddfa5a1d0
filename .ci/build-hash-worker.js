// Writes src/passwords/hash-worker-text.ts: the program of the hash threads with bcryptjs as one text, because a bundle of an
// application holds no file of it. Run by `npm run generate`; the same files always give the same module.
import { readFileSync, writeFileSync } from 'node:fs'
import { build } from 'esbuild'

const { outputFiles } = await build({
  entryPoints: ['src/passwords/hash-thread.js'],
  bundle: true,
  write: false,
  minify: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  legalComments: 'none',
  // Native code stays outside: it is found from the file that `TextWorkers` names.
  define: { 'import.meta.url': 'argon2File' },
  banner: { js: 'const { argon2File } = require("node:worker_threads").workerData;' },
})
const license = readFileSync('node_modules/bcryptjs/LICENSE', 'utf8').trim()

writeFileSync(
  'src/passwords/hash-worker-text.ts',
  `// Generated from src/passwords/hash-thread.js by .ci/build-hash-worker.js: change the files there, not this one.
/*! The text contains bcryptjs, under these terms:

${license} */

/** What a hash thread runs where the files of the package are not to be found. */
export const hashWorkerText = ${JSON.stringify(outputFiles[0].text)}
`,
)
