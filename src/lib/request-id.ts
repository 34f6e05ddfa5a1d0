import { randomBytes } from 'node:crypto'

/** Names requests within this process: a random start and a count, cheap enough for every request. */
export function createRequestIds(): () => string {
  const start = randomBytes(9).toString('base64url')
  let count = 0
  return () => {
    count += 1
    return `${start}-${count.toString(36)}`
  }
}
