import { createHash } from 'node:crypto'
import type { Asset } from './templates.js'

type Channels = readonly [red: number, green: number, blue: number]

/** The surfaces of latchkey.css on which links and focus rings stand; of each scheme the one that is harder to read on. */
const lightSurface: Channels = [0xf4, 0xf5, 0xf8]
const darkSurface: Channels = [0x1b, 0x20, 0x27]

const black: Channels = [0, 0, 0]
const white: Channels = [255, 255, 255]

/** WCAG 2.2, 1.4.3: for text of any size. */
const legibleContrast = 4.5

/**
 * The stylesheet of our pages with the brand's colours in it, since strict CSP allows no inline style. `--link` is the
 * accent, made as much darker or lighter as it takes to be read on light and on dark pages.
 */
export function stylesheet(css: string, colours: { accentColor: string; onAccentColor: string }): Asset {
  const accent = channelsOf(colours.accentColor) ?? black
  const light = `--accent: ${colours.accentColor};\n  --on-accent: ${colours.onAccentColor};`
  const body = `${css}
:root {
  ${light}
  --link: ${legible(accent, lightSurface, black)};
}
@media (prefers-color-scheme: dark) {
  :root {
    --link: ${legible(accent, darkSurface, white)};
  }
}
`
  return named('css', 'text/css; charset=utf-8', body)
}

/** The one script of our pages. */
export function script(body: string): Asset {
  return named('js', 'text/javascript; charset=utf-8', body)
}

function named(extension: 'css' | 'js', contentType: string, body: string): Asset {
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 16)
  return { fileName: `latchkey.${hash}.${extension}`, contentType, body }
}

/**
 * Black or white, whichever is easier to read on that colour (WCAG 2.2, contrast ratio); null for anything but
 * `#rgb` and `#rrggbb`.
 */
export function readableOn(colour: string): '#000000' | '#ffffff' | null {
  const channels = channelsOf(colour)
  if (channels === null) return null
  return contrast(channels, black) > contrast(channels, white) ? '#000000' : '#ffffff'
}

/** The colour, mixed with as little of the other one as makes it legible on the surface. */
function legible(colour: Channels, surface: Channels, other: Channels): string {
  const mixtures = Array.from({ length: 51 }, (_, step) => mixed(colour, other, step / 50))
  return hexadecimal(mixtures.find((mixture) => contrast(mixture, surface) >= legibleContrast) ?? other)
}

function mixed(colour: Channels, other: Channels, share: number): Channels {
  const mix = (index: 0 | 1 | 2) => Math.round(colour[index] * (1 - share) + other[index] * share)
  return [mix(0), mix(1), mix(2)]
}

function hexadecimal(channels: Channels): string {
  return `#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`
}

function channelsOf(colour: string): Channels | null {
  const digits = /^#(?:[\da-f]{3}|[\da-f]{6})$/i.test(colour) ? colour.slice(1) : null
  if (digits === null) return null
  const width = digits.length / 3
  const channel = (index: number) => {
    const own = digits.slice(index * width, (index + 1) * width)
    return Number.parseInt(width === 1 ? own + own : own, 16)
  }
  return [channel(0), channel(1), channel(2)]
}

function contrast(one: Channels, other: Channels): number {
  const [brighter = 0, darker = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a)
  return (brighter + 0.05) / (darker + 0.05)
}

function luminance([red, green, blue]: Channels): number {
  return 0.2126 * linear(red / 255) + 0.7152 * linear(green / 255) + 0.0722 * linear(blue / 255)
}

function linear(channel: number): number {
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
}
