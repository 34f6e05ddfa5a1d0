import type { DoctorEcho } from '../../model/doctor-echo.js'
import { type NoEcho, readEcho } from './echo-answer.js'
import type { Evidence } from './evidence.js'

/** The evidence, with the two echoes read. */
export interface Case {
  evidence: Evidence
  url: URL
  echo: DoctorEcho | NoEcho
  forged: DoctorEcho | NoEcho
  /** How far the clock of the server is ahead at least; null when no answer shows it. */
  aheadMs: number | null
}

export function readCase(evidence: Evidence): Case {
  const { echo, forged, target } = evidence
  const url = new URL(target.auth)
  return { evidence, url, echo: readEcho(echo), forged: readEcho(forged), aheadMs: aheadMsOf(evidence) }
}

/** The header Date has whole seconds, and was written at some moment between question and answer. */
function aheadMsOf({ echo, askedAtMs, answeredAtMs }: Evidence): number | null {
  const date = echo.kind === 'answer' ? Date.parse(echo.headers.get('date') ?? '') : Number.NaN
  if (Number.isNaN(date)) return null
  const least = date - answeredAtMs
  return least > 0 ? least : Math.min(date + 999 - askedAtMs, 0)
}
