import { domainToASCII, domainToUnicode } from 'node:url'

export interface EmailAddress {
  /** As the visitor wrote it, without surrounding spaces. Only for display. */
  typed: string
  /** ASCII and lower case, the domain as A-labels. This form is compared, indexed and mailed to. */
  canonical: string
}

/** RFC 5321 §4.5.3.1.3: a path of 256 octets has room for 254. */
const maxLength = 254
const maxLocalLength = 64
/** Surrounding spaces do not count against the address, but a form never sends hundreds of them. */
const maxInputLength = 320

const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
/** RFC 5321 §4.1.2 Dot-string. Quoted local parts are refused, because mailers disagree on where they end. */
const dotAtom = new RegExp(`^${atom}(?:\\.${atom})*$`)
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * Reads one email address, the same way everywhere: sign-up, sign-in, reset, OAuth and admin lists.
 *
 * The local part is ASCII (RFC 5321 dot-atom) and compared without case; dots and `+tags` are kept. The domain goes through
 * UTS 46. Characters that Unicode would silently turn into another address are refused: compatibility characters, invisible
 * ones, other dots. So one mailbox never gets two accounts, and two mailboxes never share one (CVE-2019-19844).
 *
 * @returns null when the input is no such address; never throws
 * @example parseEmailAddress('Alice@Bücher.example') // canonical: 'alice@xn--bcher-kva.example'
 */
export function parseEmailAddress(input: unknown): EmailAddress | null {
  if (typeof input !== 'string' || input.length > maxInputLength) return null
  const typed = input.replace(/^ +| +$/g, '')
  if (typed.length > maxLength) return null

  const at = typed.indexOf('@')
  const local = typed.slice(0, at)
  // Some mailers read an encoded word (RFC 2047) in the local part as another address.
  if (at < 1 || local.length > maxLocalLength || !dotAtom.test(local) || local.includes('=?')) return null

  const domain = canonicalDomain(typed.slice(at + 1))
  if (domain === null) return null
  const canonical = `${local.toLowerCase()}@${domain}`
  return canonical.length > maxLength ? null : { typed, canonical }
}

function canonicalDomain(typed: string): string | null {
  if (typed === '' || typed.normalize('NFKC') !== typed || /[^\p{L}\p{M}\p{N}.-]/u.test(typed)) return null

  const ascii = domainToASCII(typed)
  const labels = ascii.split('.')
  if (ascii.length > 253 || labels.length < 2 || !labels.every((part) => label.test(part))) return null
  // A last label of digits is an IPv4 address.
  if (/^\d+$/.test(labels.at(-1) ?? '')) return null
  return spells(typed, ascii) ? ascii : null
}

/** True when the mapping of UTS 46 changed nothing but case: each label is the A-label or what it stands for. */
function spells(typed: string, ascii: string): boolean {
  // Letter by letter, because lower-casing a whole word treats a final sigma in another way than UTS 46.
  const given = Array.from(typed, (letter) => letter.toLowerCase())
    .join('')
    .split('.')
  const aLabels = ascii.split('.')
  const uLabels = domainToUnicode(ascii).split('.')
  if (given.length !== aLabels.length) return false
  return given.every((part, index) => {
    // Newer releases of Node leave an A-label that stands for nothing as it is (RFC 5890 §2.3.2.1: it must stand for one).
    const isHollow = part.startsWith('xn--') && part === uLabels[index]
    return !isHollow && (part === aLabels[index] || part === uLabels[index])
  })
}
