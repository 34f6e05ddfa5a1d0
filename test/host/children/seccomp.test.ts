import { describe, expect, test } from 'vitest'
import { seccompFilter } from '../../../src/host/children/seccomp.js'

interface Call {
  number: number
  /** `AUDIT_ARCH_…` */
  architecture: number
  first?: number
  second?: number
}

const allow = 0x7fff0000
const kill = 0x80000000
const refused = 0x00050001
const noCall = 0x00050026
const noFamily = 0x00050061

/** Classic BPF as the kernel runs it, as far as the filter uses it. Stops at a jump backwards or beyond the end. */
function run(program: Buffer, { number, architecture, first = 0, second = 0 }: Call): number {
  const words = new Map([
    [0, number],
    [4, architecture],
    [16, first],
    [24, second],
  ])
  let held = 0
  for (let at = 0; at < program.length; at += 8) {
    const [code, jumpIf, jumpElse] = [program.readUInt16LE(at), program.readUInt8(at + 2), program.readUInt8(at + 3)]
    const value = program.readUInt32LE(at + 4)
    if (code === 0x06) return value
    if (code === 0x20) held = words.get(value) ?? Number.NaN
    else {
      const holds =
        code === 0x15 ? held === value : code === 0x35 ? held >= value : code === 0x45 ? (held & value) !== 0 : null
      if (holds === null) throw new Error(`unknown instruction ${code}`)
      at += 8 * (holds ? jumpIf : jumpElse)
    }
  }
  throw new Error('the filter has no end')
}

describe.each([
  {
    processor: 'x64',
    architecture: 0xc000003e,
    foreign: [0x40000003, 0xc00000b7],
    numbers: {
      read: 0,
      execve: 59,
      clone: 56,
      ioctl: 16,
      socket: 41,
      socketpair: 53,
      ptrace: 101,
      keyctl: 250,
      unshare: 272,
    },
  },
  {
    processor: 'arm64',
    architecture: 0xc00000b7,
    foreign: [0x40000028, 0xc000003e],
    numbers: {
      read: 63,
      execve: 221,
      clone: 220,
      ioctl: 29,
      socket: 198,
      socketpair: 199,
      ptrace: 117,
      keyctl: 219,
      unshare: 97,
    },
  },
])('ATK-274 ATK-275 the filter of $processor', ({ processor, architecture, foreign, numbers }) => {
  const filter = seccompFilter(processor) ?? Buffer.alloc(0)
  const judge = (number: number, first?: number, second?: number) =>
    run(filter, {
      number,
      architecture,
      ...(first !== undefined && { first }),
      ...(second !== undefined && { second }),
    })

  test('kills a call of another processor', () => {
    for (const other of foreign) expect(run(filter, { number: 0, architecture: other })).toBe(kill)
  })

  test('refuses traces, keyrings, io_uring, namespaces, and a clone that it cannot look into', () => {
    for (const number of [numbers.ptrace, numbers.keyctl, numbers.unshare, 425, 426, 427]) {
      expect(judge(number)).toBe(refused)
    }
    expect(judge(435)).toBe(noCall)
    expect(judge(numbers.read)).toBe(allow)
    expect(judge(numbers.execve)).toBe(allow)
  })

  test('takes threads and no other clone', () => {
    const thread = 0x3d0f00
    expect(judge(numbers.clone, thread)).toBe(allow)
    expect(judge(numbers.clone, 17)).toBe(refused)
    for (const space of [0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000]) {
      expect(judge(numbers.clone, (thread | space) >>> 0)).toBe(refused)
    }
  })

  test('takes sockets of unix and inet only, and no typing into a terminal', () => {
    for (const number of [numbers.socket, numbers.socketpair]) {
      for (const family of [1, 2, 10]) expect(judge(number, family)).toBe(allow)
      for (const family of [0, 16, 17, 38, 40]) expect(judge(number, family)).toBe(noFamily)
    }
    expect(judge(numbers.ioctl, 0, 0x5412)).toBe(refused)
    expect(judge(numbers.ioctl, 0, 0x541c)).toBe(refused)
    expect(judge(numbers.ioctl, 0, 0x5413)).toBe(allow)
  })

  test('fits into what the kernel takes', () => {
    expect(filter.length % 8).toBe(0)
    expect(filter.length / 8).toBeLessThan(4096)
  })
})

test('ATK-274 the filter of x64 knows no call of x32, and no other processor has a filter', () => {
  const filter = seccompFilter('x64') ?? Buffer.alloc(0)
  expect(run(filter, { number: 0x40000000, architecture: 0xc000003e })).toBe(noCall)
  expect(seccompFilter('riscv64')).toBeNull()
})
