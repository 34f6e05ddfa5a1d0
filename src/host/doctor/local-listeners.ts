import { readFile } from 'node:fs/promises'

const listens = '0A'
/** More are counted only. */
const mostNamed = 8

/**
 * What listens on this machine for others of this machine only, and in the abstract namespace of unix sockets: programs there
 * often ask for no password.
 *
 * @param own ports of the host
 */
export async function localListeners(own: readonly number[]): Promise<string[]> {
  const [v4, v6, unix] = await Promise.all(['tcp', 'tcp6', 'unix'].map(readTable))
  const ports = new Set([...(v4 ?? []), ...(v6 ?? [])].flatMap((columns) => loopbackPort(columns)))
  const names = new Set((unix ?? []).flatMap((columns) => abstractName(columns)))
  const found = [
    ...[...ports].filter((port) => !own.includes(port)).map((port) => `port ${port} of loopback`),
    ...[...names].map((name) => `the abstract socket ${name}`),
  ]
  const more = found.length - mostNamed
  return more > 0 ? [...found.slice(0, mostNamed), `${more} more`] : found
}

async function readTable(name: string): Promise<string[][]> {
  const text = await readFile(`/proc/net/${name}`, 'utf8').catch(() => '')
  return text.split('\n').map((line) => line.trim().split(/\s+/))
}

/** The address is hexadecimal, its words as this processor writes them: 127.x.y.z ends in `7F`. */
function loopbackPort([, local = '', , state]: readonly string[]): number[] {
  const [address = '', port = ''] = local.split(':')
  const isLoopback = /^[0-9A-F]{6}7F$/.test(address) || address === '00000000000000000000000001000000'
  return state === listens && isLoopback ? [Number.parseInt(port, 16)] : []
}

/** `@` stands for the zero byte. The flag says that the socket takes connections. */
function abstractName(columns: readonly string[]): string[] {
  const [, , , flags, , , , name = ''] = columns
  return flags === '00010000' && name.startsWith('@') ? [name.replaceAll(/[^ -~]/g, '?').slice(0, 60)] : []
}
