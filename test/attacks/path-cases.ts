import { posix } from 'node:path'
import { readVectors } from '../support/vectors.js'

/** A request target of `path-bypass.json` and what may come of it. */
export interface PathCase {
  method: string
  target: string
  expect: 'never-unauthenticated' | 'public'
  why: string
}

const vectors = readVectors<{
  cases: PathCase[]
  method_and_override_cases: { method: string; extra: string; target: string }[]
}>('path-bypass')

export const pathCases = vectors.cases
export const overrideCases = vectors.method_and_override_cases

/** Its path is `/open`: what stands behind the question mark is nobody's path. */
export const openAfterAll = '/open?/api/secret'

/** The paths that the vectors call public. */
export const publicPaths = ['/apiary/open', '/api-docs', '/apiv2/x', '/open', '/api.json'] as const

/**
 * What routers, proxies and handlers make of a target after one decoding: those that repair it, and those that give it to
 * `URL` or to `path`. An application may contain any of them, so none may find `/api` in what we let through.
 */
function readingsOf(target: string): string[] {
  const path = target.replace(/^[a-z]+:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '')
  const decoded = decode(path)
  const repaired = decoded
    .normalize('NFKC')
    .replaceAll('\\', '/')
    .replaceAll(/;[^/]*/g, '')
    .replaceAll(/[\p{C}\p{Z}]/gu, '')
    .replaceAll(/\/+/g, '/')
  const readings = [path, decoded, repaired, posix.normalize(decoded), posix.normalize(repaired)]
  if (URL.canParse(target, 'http://x')) readings.push(decode(new URL(target, 'http://x').pathname))
  return readings
}

/** Whether somebody could take the target for one below `/api`. */
export function meansApi(target: string): boolean {
  return readingsOf(target).some((reading) => /^\/api(?:\/|$)/i.test(reading))
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
