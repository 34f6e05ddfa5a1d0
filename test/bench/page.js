// Writes what was measured between `<!-- bench:<name> -->` and `<!-- /bench -->` of docs/benchmarks.md.
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'

const page = new URL('../../docs/benchmarks.md', import.meta.url)

/** With a chart, the picture is kept beside this file and shown above the table. */
export function writePage(name, figures, chart) {
  const text = readFileSync(page, 'utf8')
  const place = new RegExp(`(<!-- bench:${name} -->\\n)[^]*?(<!-- /bench -->)`)
  if (!place.test(text)) throw new Error(`docs/benchmarks.md has no place for ${name}`)
  if (chart) writeFileSync(new URL(`${name}.svg`, import.meta.url), chart)
  const picture = chart
    ? `![What is left of a route's requests a second behind a guard](../test/bench/${name}.svg)\n\n`
    : ''
  const today = new Date().toISOString().slice(0, 10)
  const about = `Measured on ${today}, Node ${process.version}, ${cpus().length} cores, ${versions().join(', ')}.`
  writeFileSync(
    page,
    text.replace(place, (_all, begin, end) => `${begin}\n${picture}${figures}\n\n${about}\n\n${end}`),
  )
}

/** Of everything that was measured. */
function versions() {
  const own = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const peers = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'))
  const measured = { ...own.devDependencies, ...peers.dependencies }
  const names = [
    'express',
    'fastify',
    'hono',
    'express-jwt',
    'passport-jwt',
    '@auth/express',
    'better-auth',
    '@fastify/jwt',
  ]
  return names.map((name) => `${name} ${measured[name]}`)
}
