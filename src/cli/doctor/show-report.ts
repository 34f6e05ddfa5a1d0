import type { CheckResult, DoctorReport } from '../../model/doctor/report.js'
import type { Output } from '../output.js'
import { ToolError } from '../tool-error.js'

/**
 * Prints the findings with cause and cure, then the checks that were not made.
 *
 * @throws {ToolError} `findings`, exit code 6, when there is a finding
 */
export function showReport(output: Output, report: DoctorReport): void {
  const { checks } = report
  const found = checks.filter(({ ok }) => !ok)
  const skipped = checks.filter((check) => check.skipped !== null)
  const rows = [...found.flatMap(findingRows), ...skipped.map(skippedRow)]
  output.table(report, ['LEVEL', 'CHECK', 'FINDING'], rows)
  output.note(`${checks.length} checks, ${countOf(found.length)}, ${skipped.length} skipped.`)
  if (found.length > 0) throw new ToolError(6, 'findings', `doctor has ${countOf(found.length)}.`)
}

function findingRows({ code, level, finding, cause, cure }: CheckResult): string[][] {
  return [
    [level, code, finding ?? ''],
    ['', '', `Cause: ${cause ?? ''}`],
    ['', '', `Cure: ${cure ?? ''}`],
  ]
}

function skippedRow({ code, skipped }: CheckResult): string[] {
  return ['skipped', code, skipped ?? '']
}

function countOf(findings: number): string {
  return findings === 1 ? '1 finding' : `${findings} findings`
}
