import type { ImportOutcome, ImportState, LineFault } from '../tasks.js'

/** How many faults are listed. The others are counted. */
const mostListed = 1_000

/** What became of the lines of an import so far. */
export interface Tally {
  processed(line: number): void
  imported(count: number): void
  fault(line: number, fault: string): void
  state(): ImportState
  outcome(): ImportOutcome
}

export function createTally(): Tally {
  const failed: LineFault[] = []
  const state = { processed: 0, imported: 0, faults: 0 }
  return {
    processed(line) {
      state.processed = line
    },
    imported(count) {
      state.imported += count
    },
    fault(line, fault) {
      state.faults += 1
      if (failed.length < mostListed) failed.push({ line, fault })
    },
    state: () => ({ ...state }),
    outcome: () => ({ ...state, failed: failed.toSorted((one, other) => one.line - other.line) }),
  }
}
