/** A stretch of a mail's text part: a link, or what stands between links. */
export interface TextPart {
  text: string
  url: string | null
}

/** Cuts a text part so that a page can make its links clickable; only http and https are links. */
export function splitLinks(text: unknown): TextPart[] {
  return String(text)
    .split(/(https?:\/\/[^\s<>"]+)/)
    .map((part, index) => ({ text: part, url: index % 2 === 1 ? part : null }))
    .filter((part) => part.text !== '')
}

/** The first link of a text part, which is where its button leads; else null. */
export function linkIn(text: unknown): string | null {
  return splitLinks(text).find((part) => part.url !== null)?.url ?? null
}

/** The code that a text part carries: its only number of 6 to 8 digits, on a line of its own; else null. */
export function codeIn(text: unknown): string | null {
  return /^\d{6,8}$/m.exec(String(text))?.[0] ?? null
}
