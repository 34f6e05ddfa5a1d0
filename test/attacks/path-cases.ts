import { posix } from 'node:path'
import { parse } from 'node:url'
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

const never = 'never-unauthenticated'

/** Which the readers of Express, connect and Fastify took for `/api` once and the guard did not. */
const readElsewhere: PathCase[] = [
  {
    method: 'GET',
    target: '//a@b:99999/api/secret#x',
    expect: never,
    why: 'url.parse drops //user@host, new URL fails',
  },
  { method: 'POST', target: '//a@b:99999/api/secret?x#', expect: never, why: 'the # in the query does the same' },
  { method: 'GET', target: '//a@999.999.999.999/api/secret#', expect: never, why: 'another host that is none' },
  { method: 'GET', target: '//a@b/api.x#', expect: never, why: 'connect: a dot behind the mount, behind a host' },
  { method: 'GET', target: '//x@api/open#', expect: never, why: 'a mount is cut off the text as it was sent' },
  { method: 'GET', target: 'http:///x/api/secret', expect: never, why: 'URL skips the third slash: x is the host' },
  { method: 'POST', target: 'ws:///x/api/secret', expect: never, why: 'the same of another scheme' },
  { method: 'GET', target: '//api#', expect: never, why: 'a host to new URL, a path to find-my-way' },
  {
    method: 'GET',
    target: 'http://x?/api/secret',
    expect: never,
    why: 'find-my-way before 9.9 looks for the next slash',
  },
]

export const pathCases = [...vectors.cases, ...readElsewhere]
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
  const path = target.replace(/^[a-z]+:\/\/[^/?#]+/i, '').replace(/[?#].*$/s, '')
  const decoded = decode(path)
  const repaired = decoded
    .normalize('NFKC')
    .replaceAll('\\', '/')
    .replaceAll(/;[^/]*/g, '')
    .replaceAll(/[\p{C}\p{Z}]/gu, '')
    .replaceAll(/\/+/g, '/')
  const readings = [path, decoded, repaired, posix.normalize(decoded), posix.normalize(repaired)]
  if (URL.canParse(target, 'http://x')) readings.push(decode(new URL(target, 'http://x').pathname))
  // The old reader of node, which Express, connect and Koa ask for all that is not plain, with and without `//host`.
  for (const slashesDenoteHost of [false, true]) {
    readings.push(decode(parse(target, false, slashesDenoteHost).pathname ?? ''))
  }
  // The router of Fastify 5 before find-my-way 9.9, with `ignoreDuplicateSlashes`.
  readings.push(
    target
      .replace(/^https?:\/\/.*?\//, '/')
      .replace(/[?#;].*$/s, '')
      .replaceAll(/\/+/g, '/'),
  )
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
