import { createHash } from 'node:crypto'
import { compressedOnce } from '../lib/compressed.js'
import type { Asset } from './templates.js'

type Channels = readonly [red: number, green: number, blue: number]

/** The surfaces of latchkey.css on which links and focus rings stand; of each scheme the one that is harder to read on. */
const lightSurface: Channels = [0xf2, 0xf4, 0xf7]
const darkSurface: Channels = [0x1c, 0x21, 0x2a]

const black: Channels = [0, 0, 0]
const white: Channels = [255, 255, 255]

/** WCAG 2.2, 1.4.3: for text of any size. */
const legibleContrast = 4.5

/**
 * The stylesheet of our pages with the brand's colours in it, since strict CSP allows no inline style. `--link` is the
 * accent, made as much darker or lighter as it takes to be read on light and on dark pages; buttons on dark pages have it,
 * too.
 */
export function stylesheet(css: string, colours: { accentColor: string; onAccentColor: string }): Asset {
  const accent = channelsOf(colours.accentColor) ?? black
  const darkLink = legible(accent, darkSurface, white)
  const light = `--accent: ${colours.accentColor};\n  --on-accent: ${colours.onAccentColor};`
  const body = `${css}
:root {
  ${light}
  --link: ${legible(accent, lightSurface, black)};
}
@media (prefers-color-scheme: dark) {
  :root {
    --accent: ${darkLink};
    --on-accent: ${readableOn(darkLink) ?? '#000000'};
    --link: ${darkLink};
  }
}
`
  return named('css', 'text/css; charset=utf-8', body)
}

/** What some pages add to the stylesheet of all pages. */
export function addedStylesheet(css: string, name: 'admin' | 'development'): Asset {
  return named('css', 'text/css; charset=utf-8', css, name)
}

/** The script of our pages, or one that some pages add. */
export function script(body: string, name: AssetName = 'latchkey'): Asset {
  return named('js', 'text/javascript; charset=utf-8', body, name)
}

/** The script for pages of the application. They name it in their own markup, so its name never changes. */
export function banner(body: string, labels: Readonly<Record<string, string>>): Asset {
  const text = (name: string) => () => JSON.stringify(labels[name] ?? '')
  // With their quotes, whichever they are: a label may hold either.
  const filled = body
    .replace(/(['"])%acting%\1/, text('page.acting'))
    .replace(/(['"])%stop%\1/, text('page.actingStop'))
  const { fileName: _hashed, ...made } = named('js', 'text/javascript; charset=utf-8', filled)
  return { ...made, fileName: 'impersonation.js', isStable: true }
}

/**
 * The favicon: a tile in the accent colour with the first letter of the product's name, as on the pages. A browser that is
 * named no icon asks for `/favicon.ico`, which is the application's.
 */
export function icon(letter: string, colours: { accentColor: string; onAccentColor: string }): Asset {
  const text = letter.replace(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`)
  const tile = `<rect width="32" height="32" rx="9" fill="${colours.accentColor}"/>`
  const font = 'font-family="system-ui,sans-serif" font-size="18" font-weight="650" text-anchor="middle"'
  const initial = `<text x="16" y="22.5" fill="${colours.onAccentColor}" ${font}>${text}</text>`
  const body = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${tile}${initial}</svg>`
  return named('svg', 'image/svg+xml', body)
}

type AssetName = 'latchkey' | 'admin' | 'development' | 'passkeys'

function named(
  extension: 'css' | 'js' | 'svg',
  contentType: string,
  body: string,
  name: AssetName = 'latchkey',
): Asset {
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 16)
  return {
    fileName: `${name}.${hash}.${extension}`,
    contentType,
    body,
    tag: hash,
    isStable: false,
    compressed: compressedOnce(body),
  }
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
