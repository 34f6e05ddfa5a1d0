import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes that are in use once everything that nobody holds is gone. */
export function heapUsed(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

/** A text of so many characters that was cut out of one of so many kilobytes; another one for each index. */
export function cutText(index: number, kilobytes: number, length: number): string {
  return Buffer.alloc(kilobytes * 1024, `${index} `)
    .toString('latin1')
    .slice(1_000, 1_000 + length)
}
