// Writes src/templates/built-in.ts: the files of this folder as one module, so that a packed or bundled Latchkey finds
// them without reading a disk. Run by `npm run generate`; the same files always give the same module.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('.', import.meta.url))
const target = fileURLToPath(new URL('../src/templates/built-in.ts', import.meta.url))

const names = readdirSync(folder, { recursive: true })
  .map((name) => String(name).replaceAll('\\', '/'))
  .filter((name) => name.endsWith('.hbs') || name.startsWith('assets/') || name.startsWith('labels/'))
  .sort()
const rows = names.map((name) => {
  const text = readFileSync(folder + name, 'utf8').replaceAll('\r\n', '\n')
  return `  ${JSON.stringify(name)}: ${JSON.stringify(text)},\n`
})

writeFileSync(
  target,
  `// Generated from templates/ by templates/build.js: change the files there, not this one.

/** Our templates and assets: path below templates/ → text. */
export const builtIn: Readonly<Record<string, string>> = Object.freeze({
${rows.join('')}})
`,
)
