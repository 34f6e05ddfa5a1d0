// The figures as a picture for docs/benchmarks.md: one bar a contender, as long as its share of the bare route's requests.
const bar = 18
const gap = 6
const left = 230
const width = 720

const names = {
  'express-jwt': 'express-jwt',
  'passport-jwt': 'passport-jwt',
  'auth-express': '@auth/express',
  'better-auth': 'better-auth, cache',
  'better-auth-store': 'better-auth',
  'fastify-jwt': '@fastify/jwt',
  'fastify-jwt-cache': '@fastify/jwt, cache',
  'hono-jwt': 'hono/jwt',
  latchkey: 'Latchkey',
}

/** Where the line of the bare route runs through a figure. */
const legible = 'stroke="#ffffff" stroke-width="4" paint-order="stroke"'

const fills = { latchkey: '#1f5fd1' }

/** An SVG; the best comes first on each framework, and a line shows the bare route. */
export function drawGuard(measured) {
  const groups = groupByFramework(measured)
  const longest = Math.max(1, ...measured.map(({ ratio }) => ratio))
  const parts = []
  let y = 24
  for (const [framework, contenders] of groups) {
    parts.push(`<text x="8" y="${y + 14}" font-weight="600">${framework}</text>`)
    y += 24
    for (const one of contenders.toSorted((a, b) => b.ratio - a.ratio)) {
      const long = Math.round(((width - left - 60) * one.ratio) / longest)
      const fill = fills[one.peer] ?? '#9aa3b0'
      parts.push(
        `<text x="16" y="${y + 13}">${names[one.peer]}: ${one.credential}</text>`,
        `<rect x="${left}" y="${y}" width="${long}" height="${bar}" fill="${fill}"/>`,
        `<text x="${left + long + 6}" y="${y + 13}" ${legible}>${one.ratio.toFixed(2)}</text>`,
      )
      y += bar + gap
    }
    y += 8
  }
  const bare = left + Math.round((width - left - 60) / longest)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" role="img" aria-label="Requests a second through a guard, as a share of the same route without one, which a line shows" font-family="system-ui, sans-serif" font-size="13" fill="#4d5663">`,
    `<rect width="${width}" height="${y}" fill="#ffffff"/>`,
    `<line x1="${bare}" y1="20" x2="${bare}" y2="${y}" stroke="#c0392b" stroke-dasharray="4 4"/>`,
    `<text x="${bare}" y="14" text-anchor="middle">the route without a guard</text>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

function groupByFramework(measured) {
  const groups = new Map()
  for (const one of measured) groups.set(one.framework, [...(groups.get(one.framework) ?? []), one])
  return groups
}
