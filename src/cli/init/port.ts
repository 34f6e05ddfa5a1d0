import type { SourceFile } from './code/source-file.js'

const patterns = [
  /\bPORT\b\s*\)?\s*(?:\|\||\?\?)\s*['"]?(\d{2,5})\b/,
  /\bPORT\s*=\s*['"]?(\d{2,5})\b/,
  /\.listen\(\s*(\d{2,5})\b/,
  /\bport\s*[:=]\s*['"]?(\d{2,5})\b/i,
]

/** The port that the code listens on, as far as it shows one. */
export function findPort(sources: readonly SourceFile[]): number | null {
  for (const pattern of patterns) {
    const found = sources.flatMap(({ text }) => pattern.exec(text)?.[1] ?? [])
    const ports = new Set(found.map(Number))
    const [port] = ports
    if (ports.size === 1 && port !== undefined) return port
  }
  return null
}
