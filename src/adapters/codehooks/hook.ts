import type { Ask, Handle, Pass, Verdict } from '../../http/verdict.js'
import { withQuery } from '../../lib/api-key-query.js'
import { decide, failure } from '../adapter.js'
import { dropApiKey } from '../node/headers.js'
import type { OwnHooks } from './auths.js'
import { answer, type CodehooksRequest, type CodehooksResponse, readRequest } from './message.js'

export type Hook = (req: CodehooksRequest, res: CodehooksResponse, next: () => void) => void | Promise<void>

type OnPass = (req: CodehooksRequest, res: CodehooksResponse, pass: Pass) => void

/** No error of ours reaches the runtime, neither thrown, rejected nor by `next(error)`: hosts disagree on what those mean. */
export function createHook(handle: Handle, onPass: OnPass, own: OwnHooks): Hook {
  return hook((req, res, onEnded) => {
    return handle({ ...readRequest(req, res), hook: own(req, res, onEnded) })
  }, onPass)
}

/** The same for a single route. */
export function createGate(ask: Ask): Hook {
  return hook((req) => ask(readRequest(req, null), req.auth ?? null), prepare)
}

type Judge = (req: CodehooksRequest, res: CodehooksResponse, onEnded: () => void) => Verdict | Promise<Verdict>

function hook(judge: Judge, onPass: OnPass): Hook {
  function carryOut(verdict: Verdict, req: CodehooksRequest, res: CodehooksResponse, next: () => void): void {
    if (verdict.kind === 'answer') answer(req, res, verdict.response)
    else if (succeeds(() => onPass(req, res, verdict))) next()
    else answer(req, res, failure)
  }

  // Without a promise unless one is needed: on the platform a body stream is lost after the first await.
  return (req, res, next) => {
    let ended = false
    const verdict = decide((...exchange) => judge(...exchange, () => (ended = true)), req, res)
    const finish = (settled: Verdict) => (ended ? undefined : carryOut(settled, req, res, next))
    return 'then' in verdict ? verdict.then(finish) : finish(verdict)
  }
}

function succeeds(step: () => void): boolean {
  try {
    step()
    return true
  } catch {
    return false
  }
}

/** Changes the request into the one that the application may see. */
export function prepare(req: CodehooksRequest, res: CodehooksResponse, pass: Pass): void {
  for (const [name, value] of Object.entries(pass.responseHeaders ?? {})) res.setHeader(name, value)
  for (const name of pass.spoofedHeaders) delete req.headers[name]
  if (pass.query !== null) writeQuery(req, pass.query)
  for (const [name, value] of Object.entries(pass.forwarded ?? {})) if (value !== null) req.headers[name] = value
  req.auth = pass.principal
}

/** Writes it everywhere that the application and crudlify may look: a remaining key would become a filter of the database. */
function writeQuery(req: CodehooksRequest, query: string): void {
  req.originalUrl = withQuery(req.originalUrl, query)
  if (req.url !== undefined) req.url = withQuery(req.url, query)
  dropApiKey(req.query)
}
