import { z } from 'zod'
import { oneOrMore } from './field.js'

const minBytes = 32
const maxBytes = 4096

/**
 * Words of placeholders and samples. Words of two letters and of hexadecimal digits are left out, because random secrets
 * contain them by chance.
 */
const vocabulary = [
  'password passphrase passwort secret geheim private public symmetric signing signature session cookie string value',
  'access refresh token jwt jws jwk hmac sha256 sha512 hs256 hs384 hs512 auth authentication oauth login account',
  'changeme change this your mine super very really long strong safe secure insecure random unique great awesome',
  'please replace insert enter here with some something must the and for not use using used only generate generated',
  'default example sample demo test testing development production staging local localhost dev prod env process import meta',
  'key keys api app application project server client user admin node express next nextauth django latchkey codehooks',
  'bits bytes byte chars char characters character minimum least more than less length 256 512 128 384 32 64',
  'todo xxx foo bar baz lorem ipsum qwerty asdf letmein welcome hello world keyboard shhh undefined null none true',
  'correct horse battery staple unsafe dummy temp temporary placeholder template variable config setting expire',
]
  .join(' ')
  .split(' ')
  .sort((left, right) => right.length - left.length)
const placeholderWords = new RegExp(`${vocabulary.join('|')}|[^\\p{L}\\p{N}]+`, 'gu')

/** A variable that a shell, a template or a config loader should have replaced. */
const unexpanded =
  /^(?:undefined|null|nan|true|false|\[object .*\]|<.*>|%\w+%|\$[A-Z_][A-Z0-9_]*)$|\$\{|\{\{|\$\(|process\.env|import\.meta\.env|os\.environ/s

/** Rows of the keyboard, and sequences of letters and digits. */
const runs = [
  '01234567890123456789',
  'abcdefghijklmnopqrstuvwxyzabc',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
  '00112233445566778899aabbccddeeff',
  '1a2b3c4d5e6f7g8h9i0j1k2l3m4n5o6p7q8r9s0t',
  '1q2w3e4r5t6y7u8i9o0p',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
  '!@#$%^&*()_+',
]
const runPieces = new Set(runs.flatMap((run) => [...pieces(run), ...pieces([...run].reverse().join(''))]))

/** Published in RFC 7515 A.1 and RFC 7520 §3.5, and in code that was copied from there. */
const published = [
  'AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow',
  'hJtXIZ2uSN5kbQfbtTNWbpdmhkV8FJG-Onbc6mxCcYg',
]

const secret = z.string().superRefine((value, context) => {
  const message = secretFault(value)
  if (message !== null) context.addIssue({ code: 'custom', message })
})

/** One secret or several: the first signs, all verify. */
export const secrets = oneOrMore('must be a text or a list of texts', secret)

/**
 * Says what is wrong with a secret that keys an HMAC (RFC 7518 §3.2, RFC 8725 §3.5, ASVS 5.0 13.2.3), or null.
 *
 * What `openssl rand -hex 32` and `openssl rand -base64 32` print always passes. The sentence never holds the secret.
 */
function secretFault(secret: string): string | null {
  const bytes = Buffer.byteLength(secret)
  if (isUnexpanded(secret)) return 'is a placeholder that nothing has filled in'
  if (/-----BEGIN|^ssh-|"kty"/.test(secret)) return 'is a key of another kind; it must be a random text'
  if (bytes < minBytes) return `has fewer than ${minBytes} bytes; make one with: openssl rand -base64 32`
  if (bytes > maxBytes) return `has more than ${maxBytes} bytes`
  if (secret !== secret.trim()) return 'begins or ends with white space; a trailing newline often comes from a file'
  if (/\p{Cc}|\p{Cs}/u.test(secret)) return 'holds control characters or broken Unicode'
  if (isGuessable(secret)) {
    return 'can be guessed: it repeats itself, runs along the keyboard or is made of sample words; make one with: openssl rand -base64 32'
  }
  return null
}

/** Whether the text is `undefined`, `${NAME}`, `process.env.NAME` or alike: the sign of a variable that was not set. */
export function isUnexpanded(text: string): boolean {
  return unexpanded.test(text) || /^(?:undefined|null|nan)$/i.test(text)
}

function isGuessable(secret: string): boolean {
  if (published.includes(secret.replace(/=+$/, ''))) return true
  const text = secret.toLowerCase()
  if (new Set(text).size < 8) return true

  const all = pieces(text)
  const distinct = new Set(all)
  if (distinct.size < all.length * 0.6) return true

  const fresh = new Set(pieces(text.replace(placeholderWords, '')).filter((piece) => !runPieces.has(piece)))
  return fresh.size < 14
}

/** All pieces of three characters. */
function pieces(text: string): string[] {
  const characters = [...text]
  return characters.slice(2).map((last, index) => `${characters[index]}${characters[index + 1]}${last}`)
}
