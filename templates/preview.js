// Shows every page and mail with sample values, in the owner's templates, language and brand, as they look on a desk and
// on a phone. Files are read again with each look. In a clone: npm run preview. In an application:
// node node_modules/latchkey/templates/preview.js --templates ./templates --locale de --name Acme --accent '#0a7'
import { createServer } from 'node:http'
import { isAbsolute, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createTemplates, SettingsError, samples } from '../dist/preview.js'
import { previewPage } from './preview-page.js'

const usage = `node node_modules/latchkey/templates/preview.js [options]

  --templates <folder>  the owner's templates; without it ours
  --locale <language>   en unless told
  --name <text>         of the product; Acme unless told
  --logo <URL>
  --accent <colour>     hexadecimal
  --port <number>       any that is free unless told`

const text = { type: 'string' }
const flags = readFlags({
  templates: text,
  locale: { ...text, default: 'en' },
  name: { ...text, default: 'Acme' },
  logo: text,
  accent: text,
  port: { ...text, default: '0' },
  help: { type: 'boolean', short: 'h' },
})
if (flags.help) {
  console.log(usage)
  process.exit()
}

function readFlags(options) {
  try {
    return parseArgs({ options }).values
  } catch (error) {
    console.error(`${error.message}\n\n${usage}`)
    process.exit(2)
  }
}

const folder = flags.templates && (isAbsolute(flags.templates) ? flags.templates : resolve(flags.templates))
const names = Object.keys(samples)

/** Made anew for each request, so that a changed file shows at once. */
function templatesIn(locale, onMissing) {
  return createTemplates(
    {
      templates: folder ?? null,
      brand: { name: flags.name, logoUrl: flags.logo ?? null, accentColor: flags.accent ?? null },
      labels: {},
      locale,
      origin: 'https://app.example',
      urlPath: '',
      basePath: '/auth',
    },
    onMissing,
  )
}

/** The sample, with what the visitor of this page has switched: `?error=` or `?waiting=`. */
function valuesOf(name, query) {
  return Object.fromEntries(
    Object.entries(samples[name]).map(([key, value]) => {
      const off = query.get(key) === ''
      return [key, off ? (typeof value === 'boolean' ? !value : '') : value]
    }),
  )
}

/** As a reader sees it who likes it so: a frame has no such wish of its own. */
function inScheme(text, scheme) {
  if (scheme !== 'light' && scheme !== 'dark') return text
  return text
    .replaceAll('(prefers-color-scheme: dark)', scheme === 'dark' ? 'all' : 'not all')
    .replaceAll('color-scheme: light dark', `color-scheme: ${scheme}`)
    .replaceAll('content="light dark"', `content="${scheme}"`)
    .replace(/(assets\/[\w.-]+\.css)/g, `$1?scheme=${scheme}`)
}

function answer({ pathname, searchParams: query }) {
  const locale = query.get('locale') ?? flags.locale
  const missing = []
  const templates = templatesIn(locale, (lacking) => missing.push(...lacking))
  const [, kind, file] = pathname.split('/')
  if (kind === 'auth') {
    const asset = templates.asset(file === 'assets' ? (pathname.split('/')[3] ?? '') : '')
    return asset && { type: asset.contentType, body: inScheme(asset.body, query.get('scheme')) }
  }
  const name = `${kind}/${file}`
  if (names.includes(name)) {
    const values = valuesOf(name, query)
    const body =
      kind === 'mail' ? templates.mail(file, values).html : templates.page(kind === 'pages' ? file : name, values)
    return { type: 'text/html; charset=utf-8', body: inScheme(body, query.get('scheme')) }
  }
  const shown = query.get('show') ?? names[0]
  if (pathname !== '/' || !names.includes(shown)) return null
  const mail = shown.startsWith('mail/') ? templates.mail(shown.slice(5), valuesOf(shown, query)) : null
  return {
    type: 'text/html; charset=utf-8',
    body: previewPage({ names, shown, sample: samples[shown], mail, query, locale, missing }),
  }
}

const server = createServer((request, response) => {
  const { host = '' } = request.headers
  // A page that points its own name at this machine is not the person who sits here.
  const isHere = /^(?:localhost|127\.0\.0\.1)(?::\d+)?$/.test(host)
  let found = { type: 'text/plain; charset=utf-8', body: 'Not here.', status: 404 }
  try {
    if (isHere) found = answer(new URL(request.url ?? '/', 'http://localhost')) ?? found
  } catch (error) {
    const lines = error instanceof SettingsError ? error.faults.map((fault) => fault.message) : [String(error)]
    found = { ...found, body: `This cannot be shown:\n\n${lines.join('\n')}\n`, status: 500 }
  }
  response.writeHead(found.status ?? 200, { 'content-type': found.type, 'cache-control': 'no-store' })
  response.end(found.body)
})

server.listen(Number(flags.port), '127.0.0.1', () => {
  console.log(`Every page and mail: http://localhost:${server.address().port}/`)
})
