import { createRequire } from 'node:module'
import type { renderSVG } from 'uqr'
import { lateModule } from '../lib/late-module.js'

/** Loaded on first use, because only the set-up of an authenticator needs it. */
const uqr = lateModule<{ renderSVG: typeof renderSVG }>(
  () => import('uqr'),
  () => createRequire(import.meta.url)('uqr'),
)

/** The text as a QR code with the margin that scanners need (ISO/IEC 18004: four modules), as data URI of an SVG. */
export async function qrCode(text: string): Promise<string> {
  await uqr.load()
  const svg = uqr.get().renderSVG(text, { border: 4, ecc: 'M', pixelSize: 4 })
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`
}
