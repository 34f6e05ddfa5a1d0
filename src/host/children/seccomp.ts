/** Numbers of a system call: on x64, and on arm64. A processor without the call has null. */
type Numbers = readonly [x64: number | null, arm64: number | null]

/**
 * What an application never needs. Most of it needs rights that a child does not have; each has been a way out of sandboxes, or
 * takes memory that the limit of a child does not see.
 */
const denied: Readonly<Record<string, Numbers>> = {
  // Other processes.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  process_mrelease: [448, 448],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  // Keyrings, which the namespaces do not divide.
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // A second way to nearly all calls, past this list.
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  bpf: [321, 280],
  userfaultfd: [323, 282],
  perf_event_open: [298, 241],
  fanotify_init: [300, 262],
  lookup_dcookie: [212, 18],
  syslog: [103, 116],
  // Mounts, and what tells of those of the machine.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  statmount: [457, 457],
  listmount: [458, 458],
  open_tree_attr: [467, 467],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  swapon: [167, 224],
  swapoff: [168, 225],
  // Namespaces. `clone` is looked at more closely below.
  unshare: [272, 97],
  setns: [308, 268],
  // Files by handle, past the root folder.
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  // The kernel and the machine.
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  acct: [163, 89],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  iopl: [172, null],
  ioperm: [173, null],
  modify_ldt: [154, null],
  uselib: [134, null],
  ustat: [136, null],
  sysfs: [139, null],
  vhangup: [153, 58],
  nfsservctl: [180, 42],
  // Memory that belongs to no process.
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  shmget: [29, 194],
  msgget: [68, 186],
  semget: [64, 190],
  mq_open: [240, 180],
  // New processes.
  fork: [57, null],
  vfork: [58, null],
}

interface Processor {
  /** `AUDIT_ARCH_…` of the kernel. */
  architecture: number
  /** The first number of another ABI's calls. null where the processor has one ABI. */
  otherCalls: number | null
  column: 0 | 1
  clone: number
  ioctl: number
  socket: number
  socketpair: number
}

const processors: Readonly<Record<string, Processor>> = {
  x64: {
    ...{ architecture: 0xc000003e, otherCalls: 0x40000000, column: 0 },
    ...{ clone: 56, ioctl: 16, socket: 41, socketpair: 53 },
  },
  arm64: {
    ...{ architecture: 0xc00000b7, otherCalls: null, column: 1 },
    ...{ clone: 220, ioctl: 29, socket: 198, socketpair: 199 },
  },
}

/** Flags in a structure, which a filter cannot read. Threads come about by `clone` when this is not there. */
const clone3 = 435

/** Places in `struct seccomp_data`. Of arguments the lower half, which is all that the kernel reads of these. */
const place = { number: 0, architecture: 4, first: 16, second: 24 }
/** Classic BPF: load a word, jump if equal, if greater or equal, if any bit is set; return. */
const op = { load: 0x20, equal: 0x15, atLeast: 0x35, anyBit: 0x45, end: 0x06 }
const verdict = { allow: 0x7fff0000, kill: 0x80000000, error: 0x00050000 }
const errors = { notPermitted: 1, noCall: 38, noFamily: 97 }

/** NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const newNamespaces = 0x7e020000
const thread = 0x00010000
/** Unix, IPv4, IPv6. */
const families = [1, 2, 10]
/** TIOCSTI and TIOCLINUX: keys typed into the terminal of the operator. */
const typing = [0x5412, 0x541c]

type Instruction = readonly [code: number, jumpIf: number, jumpElse: number, value: number]

/**
 * The filter of system calls for a child, in classic BPF as the kernel takes it. A list of what is refused: what Node needs
 * changes from version to version.
 *
 * @param processor as in `process.arch`
 * @returns null when no list is known for the processor
 */
export function seccompFilter(processor: string): Buffer | null {
  const found = processors[processor]
  return found === undefined ? null : encode(programOf(found))
}

function programOf({ architecture, otherCalls, column, clone, ioctl, socket, socketpair }: Processor): Instruction[] {
  const refused = Object.values(denied).flatMap((numbers) => numbers[column] ?? [])
  const allow = end(verdict.allow)
  return [
    [op.load, 0, 0, place.architecture],
    [op.equal, 1, 0, architecture],
    end(verdict.kill),
    [op.load, 0, 0, place.number],
    ...(otherCalls === null ? [] : [jump(op.atLeast, otherCalls, 1), refuse(errors.noCall)]),
    jump(op.equal, clone3, 1),
    refuse(errors.noCall),
    ...refused.flatMap((number) => [jump(op.equal, number, 1), refuse(errors.notPermitted)]),
    ...judged([clone], place.first, [
      jump(op.anyBit, newNamespaces, 1),
      refuse(errors.notPermitted),
      jump(op.anyBit, thread, 1),
      allow,
      refuse(errors.notPermitted),
    ]),
    ...judged([ioctl], place.second, [
      ...typing.flatMap((command) => [jump(op.equal, command, 1), refuse(errors.notPermitted)]),
      allow,
    ]),
    ...judged([socket, socketpair], place.first, [
      ...families.flatMap((family) => [jump(op.equal, family, 1), allow]),
      refuse(errors.noFamily),
    ]),
    allow,
  ]
}

/** Calls that one argument decides. */
function judged(numbers: readonly number[], argument: number, verdicts: readonly Instruction[]): Instruction[] {
  return numbers.flatMap((number) => [
    jump(op.equal, number, verdicts.length + 1),
    [op.load, 0, 0, argument],
    ...verdicts,
  ])
}

/** Goes on with the next instruction, or leaves some out when the condition is false. */
function jump(code: number, value: number, leftOut: number): Instruction {
  return [code, 0, leftOut, value]
}

function refuse(error: number): Instruction {
  return end(verdict.error | error)
}

function end(value: number): Instruction {
  return [op.end, 0, 0, value]
}

/** `struct sock_filter`: 16, 8, 8 and 32 bits. Both processors begin with the lowest byte. */
function encode(program: readonly Instruction[]): Buffer {
  const size = 8
  const bytes = Buffer.alloc(program.length * size)
  for (const [index, [code, jumpIf, jumpElse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * size)
    bytes.writeUInt8(jumpIf, index * size + 2)
    bytes.writeUInt8(jumpElse, index * size + 3)
    bytes.writeUInt32LE(value >>> 0, index * size + 4)
  }
  return bytes
}
