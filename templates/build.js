// Writes src/templates/built-in.ts: the files of this folder as one module, so that a packed or bundled Latchkey finds
// them without reading a disk. Run by `npm run generate`; the same files always give the same module.
// Mail programs such as Outlook for Windows ignore most style sheets, so the first one in the layout of mails is also
// written into the style attributes of everything that it matches. The classes stay, for dark mode and small screens.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildSync, transformSync } from 'esbuild'
import juice from 'juice'

const folder = fileURLToPath(new URL('.', import.meta.url))
const target = fileURLToPath(new URL('../src/templates/built-in.ts', import.meta.url))

/** Scripts that are made of several files. */
const bundled = ['assets/passkeys.js']

const names = readdirSync(folder, { recursive: true })
  .map((name) => String(name).replaceAll('\\', '/'))
  .filter((name) => name.endsWith('.hbs') || name.startsWith('assets/') || name.startsWith('labels/'))
  .sort()
const styles = /<style>([\s\S]*?)<\/style>/.exec(read('mail/layout.html.hbs'))?.[1]
if (!styles) throw new Error('templates/mail/layout.html.hbs has no <style>')

const rows = names.map((name) => {
  const isMail = name.startsWith('mail/') && name.endsWith('.html.hbs')
  const text = isMail ? juice.inlineContent(read(name), styles) : minified(name)
  return `  ${JSON.stringify(name)}: ${JSON.stringify(text)},\n`
})

/** Stylesheet and script without comments and white space; every other file as it is. */
function minified(name) {
  const loader = /^assets\/.*\.(css|js)$/.exec(name)?.[1]
  if (bundled.includes(name)) return bundle(name)
  return loader === undefined ? read(name) : transformSync(read(name), { loader, minify: true }).code
}

function bundle(name) {
  const built = buildSync({ entryPoints: [folder + name], bundle: true, format: 'iife', minify: true, write: false })
  return built.outputFiles[0]?.text ?? ''
}

function read(name) {
  return readFileSync(folder + name, 'utf8').replaceAll('\r\n', '\n')
}

writeFileSync(
  target,
  `// Generated from templates/ by templates/build.js: change the files there, not this one.

/** Our templates and assets: path below templates/ → text. */
export const builtIn: Readonly<Record<string, string>> = Object.freeze({
${rows.join('')}})
`,
)
