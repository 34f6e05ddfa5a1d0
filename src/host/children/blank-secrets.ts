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
const blankedLine = '*** (Latchkey: a line with too much like values of the environment)'
/** Characters, of all secrets that a line is compared with. */
const mostCompared = 64 * 1024
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
  const texts = new Set(secrets.flatMap(spellingsOf))
  const byStart = new Map<number, string[]>()
  // Most places of a line begin no secret, and are passed by this.
  const pairs = new Uint8Array(pairCount)
  let longest = 0
  for (const text of texts) {
    pairs[pairAt(text, 0)] = 1
    const alike = byStart.get(startOf(text, 0))
    if (alike) alike.push(text)
    else byStart.set(startOf(text, 0), [text])
    longest = Math.max(longest, text.length)
  }
  for (const alike of byStart.values()) alike.sort((one, other) => other.length - one.length)

  /** False when a line was made to be compared for long, which would hold up the host. */
  function findSecrets(line: string, most: number, found: Range[]): boolean {
    const last = Math.min(most, line.length - shortest + 1)
    let compared = 0
    for (let at = 0; at < last; at += 1) {
      if (pairs[pairAt(line, at)] === 0) continue
      for (const text of byStart.get(startOf(line, at)) ?? []) {
        compared += text.length
        if (compared > mostCompared) return false
        if (!line.startsWith(text, at)) continue
        found.push({ start: at, end: at + text.length })
        break
      }
    }
    return true
  }

  return {
    longest,
    blank(line, most) {
      const found: Range[] = []
      if (texts.size > 0 && !findSecrets(line, most, found)) return blankedLine
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
  const found = secret.length < shortest ? [] : [secret, ...escaped(secret), ...urlEncoded(secret), ...base64(secret)]
  for (const line of lines) {
    if (line.length < shortest || line === secret) continue
    found.push(line, ...escaped(line), ...urlEncoded(line), ...webSafe(Buffer.from(line).toString('base64')))
  }
  return found
}

function escaped(text: string): string[] {
  if (/^[\w .:;,=+-]*$/.test(text)) return []
  const json = JSON.stringify(text).slice(1, -1)
  const ascii = json.replace(/[^ -~]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return [json, ascii, json.replaceAll('/', '\\/'), inspect(text).slice(1, -1)]
}

function urlEncoded(text: string): string[] {
  if (/^[\w.-]*$/.test(text)) return []
  const wellFormed = Buffer.from(text).toString()
  const component = encodeURIComponent(wellFormed)
  const form = new URLSearchParams({ '': text }).toString().slice(1)
  const lower = (encoded: string) => encoded.replace(/%../g, (each) => each.toLowerCase())
  return [component, lower(component), encodeURI(wellFormed), form, lower(form)]
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
  return [whole, ...inner].flatMap(webSafe)
}

/** With the base64url spelling. */
function webSafe(text: string): string[] {
  return [text, text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')]
}
