/** `warn` and `error` both make the tool exit with a failure. */
export type CheckLevel = 'error' | 'warn'

/** S: in the server. L: in the tool, by the settings and the store. N: in the tool, over the network. */
export type CheckPlace = 'S' | 'L' | 'N'

/** What one check found wrong. `level` and `cure` replace those of the check's row. */
export interface Finding {
  finding: string
  level?: CheckLevel
  cure?: string
}

/** The check could not be made, and why. */
export interface Skipped {
  skipped: string
}

/** null: nothing is wrong. */
export type Outcome = null | Finding | readonly Finding[] | Skipped

/** A row of the report. A check with several findings has one row for each. */
export interface CheckResult {
  code: string
  /** False exactly when there is a finding. */
  ok: boolean
  level: CheckLevel
  finding: string | null
  cause: string | null
  cure: string | null
  /** Why the check was not made; null when it was made. */
  skipped: string | null
}

export interface DoctorReport {
  /** When the checks ran, ISO 8601 in UTC. Readers within a minute get the same run. */
  checkedAt: string
  checks: readonly CheckResult[]
}

/** What a check has besides what it finds: where it runs, its level, and the texts beside a finding. */
export interface CheckRow {
  where: readonly CheckPlace[]
  level: CheckLevel
  cause: string
  cure: string
}

/** A check that is ready to run. */
export interface Check {
  code: string
  row: CheckRow
  check(): Outcome | Promise<Outcome>
}

/** Checks of one topic, which share what they ask. */
export type Topic = readonly Check[]

/** The request that asks for a report. */
export interface Asker {
  /** The header by which a proxy named the client; null when there is none. */
  forwardingHeader: string | null
}

/** The checks of the server, and its last run. */
export interface Doctor {
  /** Of the store: the same for all processes of an application. */
  installationId: string
  topics(asker: Asker): Promise<readonly Topic[]>
  timer(milliseconds: number, callback: () => void): () => void
  /** The run that began last; null before the first one. */
  last(): DoctorRun | null
  /** null forgets it. */
  keep(run: DoctorRun | null): void
}

export interface DoctorRun {
  /** Monotonic. */
  startedAtMs: number
  /** Rejects where the checks cannot be loaded. */
  report: Promise<DoctorReport>
}

/** The rows of a report that one check makes. */
export function toResults(code: string, row: CheckRow, outcome: Outcome): CheckResult[] {
  const fine = { code, ok: true, level: row.level, finding: null, cause: null, cure: null, skipped: null }
  if (outcome === null) return [fine]
  if ('skipped' in outcome) return [{ ...fine, skipped: outcome.skipped }]
  const findings = 'finding' in outcome ? [outcome] : outcome
  if (findings.length === 0) return [fine]
  return findings.map(({ finding, level = row.level, cure = row.cure }) => {
    return { code, ok: false, level, finding, cause: row.cause, cure, skipped: null }
  })
}
