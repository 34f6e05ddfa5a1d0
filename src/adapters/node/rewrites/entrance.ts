import type { ServerResponse } from 'node:http'
import { type Handle, untouched } from '../../../http/verdict.js'
import { answer } from '../answer.js'
import { type Dress, NodeMessage } from '../message.js'
import { present, settle, whenJudged } from './judge-again.js'
import { innermost, type Judged, type JudgedRequest, mountedOf, setInnermost } from './judged.js'

/**
 * A guard in front of an application of Express or connect. It calls `run` with a request that may pass, and pushes its
 * judgement onto the request's stack; `leaving` pops it.
 *
 * `hooked`: the application has an `authenticate` hook. A request that enters again, such as by `app.handle` in a handler, is judged only if it changed.
 */
export function createEntrance({ handle, hooked, dress }: { handle: Handle; hooked: boolean; dress: Dress }) {
  return function enter(req: JudgedRequest, res: ServerResponse, run: () => void): void {
    const outer = innermost(req)
    const entry = mountedOf(req)
    const known = judgedBy(handle, outer)
    if (known !== undefined) {
      setInnermost(req, { ...known, entry })
      return void whenJudged(req, res, run)
    }
    const arrived = new NodeMessage(req, res, dress)
    const { method, path } = arrived
    const judged: Judged = {
      handle,
      outer,
      arrived,
      entry,
      path,
      method,
      hooked,
      url: req.url,
      pass: untouched,
      rawHeaders: null,
    }
    settle(judged, arrived, (verdict) => {
      if (verdict.kind === 'answer') return answer(req, res, verdict.response)
      judged.pass = verdict
      setInnermost(req, judged)
      if (present(judged, req, res, verdict)) run()
    })
  }
}

function judgedBy(handle: Handle, judged: Judged | undefined): Judged | undefined {
  return judged === undefined || judged.handle === handle ? judged : judgedBy(handle, judged.outer)
}
