import { existsSync, readFileSync } from 'node:fs'
import module from 'node:module'

interface Idle {
  /** Group and name. */
  tries: RegExp
  why: string
}

const hasSqlite = 'DatabaseSync' in (process.getBuiltinModule('node:sqlite') ?? {})
const major = Number(process.versions.node.split('.')[0])

/** Tries of the hostile application that reach nothing even without any wall, on this version of Node and this machine. */
export const idleEscapes: readonly Idle[] = [
  {
    tries: /^reads \/var: readdirSync, recursive$/,
    why: 'Some of it is closed to ordinary users.',
  },
  {
    tries: /^changes \/(etc|usr|usr\/lib|dev|run|proc|app|latchkey)?: a file$/,
    why: 'It belongs to root, or is there in a sandbox only, where it belongs to the user.',
  },
  {
    tries: /^changes \/proc\/(sys\/kernel\/core_pattern|sysrq-trigger): written$/,
    why: 'It belongs to root. A host that runs as root has no sandbox.',
  },
  { tries: /^reach process: setuid$/, why: 'It takes a capability. loads.test.ts gives one to the host.' },
  {
    tries: /^names proc: (maps|exe)$/,
    why: 'It names the program of Node, which lies outside of the folder of the host.',
  },
  {
    tries: /^names proc: (mounts|mountstats)$/,
    why: 'It names devices. mountinfo names the folders that are mounted.',
  },
  { tries: /^names proc: (root|fd\/\d)$/, why: 'The host would have to leave a file of its folder open.' },
  ...unless(hasSqlite, /^builtIns node:sqlite by /, 'This version of Node has no SQLite.'),
  ...unless(
    major < 24,
    /^reads .*: readFileSync with another resolver$/,
    'This version of Node has a resolver of its own.',
  ),
  ...unless('globSync' in process.getBuiltinModule('fs'), /^reads .*: globSync$/, 'This version of Node has none.'),
  ...unless('enableCompileCache' in module, /^builtIns .*: compile cache$/, 'This version of Node has none.'),
  ...unless('registerHooks' in module, /^starts module\.registerHooks$/, 'This version of Node has none.'),
  ...unless('execve' in process, /^starts execve$/, 'This version of Node has none.'),
  ...unless(mayReadMemory(), /^reach process: memory of the /, 'Yama allows it to the parent of a process only.'),
  ...unless(existsSync('/proc/net/if_inet6'), /^reach network: .* IPv6$/, 'This machine has no IPv6.'),
]

function unless(works: boolean, tries: RegExp, why: string): Idle[] {
  return works ? [] : [{ tries, why }]
}

function mayReadMemory(): boolean {
  const scope = '/proc/sys/kernel/yama/ptrace_scope'
  return !existsSync(scope) || readFileSync(scope, 'utf8').trim() === '0'
}
