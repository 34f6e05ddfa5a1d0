import type { ServerResponse } from 'node:http'
import type { HttpRequest } from '../../../http/message.js'
import type { Pass, Verdict } from '../../../http/verdict.js'
import { decide } from '../../adapter.js'
import { answer } from '../answer.js'
import { passOn } from '../listener.js'
import { messageAsArrived } from './as-arrived.js'
import type { Judged, JudgedRequest } from './judged.js'
import { outdatedOf, pathBelow } from './outdated.js'

/** Runs the next layer after every guard around it has judged the current request. Synchronous like the guards. */
export function whenJudged(req: JudgedRequest, res: ServerResponse, run: () => void): void {
  const outdated = outdatedOf(req)
  if (outdated === undefined) return void run()
  const message = messageAsArrived(outdated, req, res)
  const path = pathBelow(outdated, req)
  settle(outdated, message, (verdict) => {
    if (verdict.kind === 'answer') return answer(req, res, verdict.response)
    // Without a principal, the request is prepared only on entering the public part of the API.
    const isNew = verdict.principal !== null || (verdict.forwarded !== null && outdated.pass.forwarded === null)
    outdated.path = path
    outdated.method = message.method
    outdated.url = undefined
    outdated.pass = verdict
    if (!isNew || present(outdated, req, res, verdict)) whenJudged(req, res, run)
  })
}

export function present(judged: Judged, req: JudgedRequest, res: ServerResponse, pass: Pass): boolean {
  if (pass.spoofedHeaders.length > 0) judged.rawHeaders ??= [...req.rawHeaders]
  return passOn(req, res, pass)
}

export function settle({ handle }: Judged, message: HttpRequest, carryOut: (verdict: Verdict) => void): void {
  const verdict = decide(handle, message, null)
  if ('then' in verdict) void verdict.then(carryOut)
  else carryOut(verdict)
}
