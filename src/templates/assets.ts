import { createHash } from 'node:crypto'
import type { Asset } from './templates.js'

/** The stylesheet of our pages with the brand's colours in it, since strict CSP allows no inline style. */
export function stylesheet(css: string, colours: { accentColor: string; onAccentColor: string }): Asset {
  const body = `${css}\n:root {\n  --accent: ${colours.accentColor};\n  --on-accent: ${colours.onAccentColor};\n}\n`
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 16)
  return { fileName: `latchkey.${hash}.css`, contentType: 'text/css; charset=utf-8', body }
}

/**
 * Black or white, whichever is easier to read on that colour (WCAG 2.2, contrast ratio); null for anything but
 * `#rgb` and `#rrggbb`.
 */
export function readableOn(colour: string): '#000000' | '#ffffff' | null {
  const digits = /^#(?:[\da-f]{3}|[\da-f]{6})$/i.test(colour) ? colour.slice(1) : null
  if (digits === null) return null
  const width = digits.length / 3
  const [red = 0, green = 0, blue = 0] = [0, 1, 2].map((index) => {
    const channel = digits.slice(index * width, (index + 1) * width)
    return linear(Number.parseInt(width === 1 ? channel + channel : channel, 16) / 255)
  })
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
  return (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) ? '#000000' : '#ffffff'
}

function linear(channel: number): number {
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
}
