import { inspect } from 'node:util'

/** Takes secrets out of log lines. */
export interface Blanker {
  /**
   * The first `most` characters of a line, without secrets. A secret that begins there is taken out whole, so the line may be
   * longer than `most`.
   */
  blank(line: string, most: number): string
  /** The longest secret, in characters: a caller that cuts lines passes this many more than it keeps. */
  longest: number
}

const blanked = '***'
/** Shorter values are words and numbers that stand in any log. */
const shortest = 8
const hashed = 4
const pairCount = 2 ** 16

/** `apikey=…` as in a URL, a header or JSON, and its quoted form in a list of raw headers. */
const apiKey = /api[-_]?key(?:\\{0,4}["'])?(?:\s{0,4}[=:]|(?<=["']),)\s{0,4}(?:\\{0,4}["'])?([^\s&"'\\,;]+)/gi
const bearer = /\bbearer\s{1,4}([^\s"'\\,;]+)/gi

/**
 * @param secrets each is found as it is, JSON-escaped, as Node prints it, URL-encoded, and in base64 also within a longer text.
 * Of a secret of several lines each line counts. Lines shorter than 8 characters are left alone
 */
export function createBlanker(secrets: readonly string[]): Blanker {
  const texts = [...new Set(secrets.flatMap(spellingsOf))].sort((one, other) => other.length - one.length)
  const byStart = new Map<number, string[]>()
  // Most places of a line begin no secret, and are passed by this.
  const pairs = new Uint8Array(pairCount)
  for (const text of texts) {
    pairs[pairAt(text, 0)] = 1
    byStart.set(startOf(text, 0), [...(byStart.get(startOf(text, 0)) ?? []), text])
  }

  function findSecrets(line: string, most: number, found: Range[]): void {
    const last = Math.min(most, line.length - shortest + 1)
    for (let at = 0; at < last; at += 1) {
      if (pairs[pairAt(line, at)] === 0) continue
      const text = byStart.get(startOf(line, at))?.find((each) => line.startsWith(each, at))
      if (text !== undefined) found.push({ start: at, end: at + text.length })
    }
  }

  return {
    longest: texts[0]?.length ?? 0,
    blank(line, most) {
      const found: Range[] = []
      if (texts.length > 0) findSecrets(line, most, found)
      findCredentials(line, found)
      return withoutRanges(line, most, found)
    },
  }
}

interface Range {
  start: number
  end: number
}

function findCredentials(line: string, found: Range[]): void {
  for (const pattern of [apiKey, bearer]) {
    for (const match of line.matchAll(pattern)) {
      const end = match.index + match[0].length
      found.push({ start: end - (match[1]?.length ?? 0), end })
    }
  }
}

/** Secrets may overlap, and then all of them go. */
function withoutRanges(line: string, most: number, found: Range[]): string {
  let text = ''
  let at = 0
  for (const { start, end } of found.sort((one, other) => one.start - other.start)) {
    if (start >= most) break
    if (start > at || (start === at && text === '')) text += `${line.slice(at, start)}${blanked}`
    at = Math.max(at, end)
  }
  return text + line.slice(at, Math.max(at, most))
}

function pairAt(text: string, at: number): number {
  return ((text.charCodeAt(at) << 8) ^ text.charCodeAt(at + 1)) & (pairCount - 1)
}

/** The first four characters as a number. */
function startOf(text: string, at: number): number {
  let hash = 0
  for (let each = at; each < at + hashed; each += 1) hash = (Math.imul(hash, 31) + text.charCodeAt(each)) | 0
  return hash
}

function spellingsOf(secret: string): string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim())
  return [secret, ...lines]
    .filter((text) => text.length >= shortest)
    .flatMap((text) => [text, ...escaped(text), ...urlEncoded(text), ...base64(text)])
}

function escaped(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1)
  const ascii = json.replace(/[^ -~]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return [json, ascii, json.replaceAll('/', '\\/'), inspect(text).slice(1, -1)]
}

function urlEncoded(text: string): string[] {
  const component = encodeURIComponent(Buffer.from(text).toString())
  const form = new URLSearchParams({ '': text }).toString().slice(1)
  const lower = (encoded: string) => encoded.replace(/%../g, (each) => each.toLowerCase())
  return [component, lower(component), encodeURI(Buffer.from(text).toString()), form, lower(form)]
}

/**
 * The text alone, and its inner part as it stands within a longer one, which may begin at each of three places of a group of
 * four characters.
 */
function base64(text: string): string[] {
  const bytes = Buffer.from(text)
  const whole = bytes.toString('base64')
  const inner = [0, 1, 2].map((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes])
    const first = before === 0 ? 0 : before + 1
    return padded.toString('base64').slice(first, Math.floor((padded.length * 8) / 6))
  })
  const standard = [whole, ...inner]
  return [...standard, ...standard.map((each) => each.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''))]
}
