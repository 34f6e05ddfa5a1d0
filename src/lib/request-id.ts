import { randomBytes } from 'node:crypto'

const base = 36

/** `00` to `zz`, from a table: converting a number to another base would cost each request a call into V8. */
const endings: readonly string[] = Array.from({ length: base * base }, (_, count) =>
  count.toString(base).padStart(2, '0'),
)

/** Names requests within this process: a random start and a count, cheap enough for every request. */
export function createRequestIds(): () => string {
  const start = randomBytes(9).toString('base64url')
  let rounds = 0
  let beginning = `${start}-`
  let at = 0
  return () => {
    at += 1
    if (at === endings.length) {
      at = 0
      rounds += 1
      beginning = `${start}-${rounds.toString(base)}`
    }
    return beginning + endings[at]
  }
}
