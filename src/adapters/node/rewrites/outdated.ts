import { isSafeMethod } from '../../../http/message.js'
import { pathOf } from '../message.js'
import { innermost, type Judged, type JudgedRequest, mountedOf } from './judged.js'

/**
 * The guard that must judge again: a read became a write, or the path is not the judged one any more. A principal stays valid
 * for every path, unless a hook of the application decides by path. Every layer of every request asks this. Most requests
 * have a principal and no hook, and then it takes two comparisons.
 */
export function outdatedOf(req: JudgedRequest): Judged | undefined {
  let judged = innermost(req)
  while (judged !== undefined && !isOutdated(judged, req)) judged = judged.outer
  return judged
}

function isOutdated(judged: Judged, req: JudgedRequest): boolean {
  if (judged.pass.principal !== null) {
    if (req.method !== judged.method && isSafeMethod(judged.method) && !isSafeMethod(req.method ?? 'GET')) return true
    if (!judged.hooked) return false
  }
  if (req.url === judged.url && mountedOf(req) === judged.entry) return false
  const path = pathBelow(judged, req)
  return path !== judged.path && !(isMountRoot(req) && judged.path === `${path}/`)
}

/** A handler mounted at the whole path sees `/`, with and without a slash at the end: one path for its routes. */
function isMountRoot(req: JudgedRequest): boolean {
  return pathOf(req.url ?? '/') === '/'
}

/** The path as the guard's application sees it, whatever prefix routers have removed since. */
export function pathBelow({ entry }: Judged, req: JudgedRequest): string {
  const mounted = mountedOf(req)
  const below = mounted.startsWith(entry) ? mounted.slice(entry.length) : mounted
  return below !== '' && isMountRoot(req) ? below : below + pathOf(req.url ?? '/')
}
