// What Linux says of processes, and where they may run.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

const kibibytes = (text, name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0)

export function childrenOf(pid) {
  return readdirSync('/proc').flatMap((name) => {
    const parent = /^\d+$/.test(name) ? parentOf(name) : null
    return parent === pid ? [Number(name)] : []
  })
}

function parentOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    // It ended meanwhile.
    return null
  }
}

/** All threads of a process, and what it starts from then on, on these cores: `0`, `1` or `0,1`. */
export function pin(pid, cores) {
  spawnSync('taskset', ['-a', '-c', '-p', cores, String(pid)])
}

/** Proportional set size, in MiB: shared pages count in parts. */
export function pssOf(pid) {
  return kibibytes(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'), 'Pss') / 1024
}

/** Resident memory in MiB: now, and at its highest since the last `forgetPeak`. */
export function memoryOf(pid) {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  return { now: kibibytes(text, 'VmRSS') / 1024, peak: kibibytes(text, 'VmHWM') / 1024 }
}

/** man 5 proc: 5 in clear_refs resets VmHWM. */
export function forgetPeak(pid) {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}
