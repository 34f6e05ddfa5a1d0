import { readFile } from 'node:fs/promises'

const listens = '0A'
/** More are counted only. */
const mostNamed = 8

/**
 * What listens on this machine on loopback or on every address, and in the abstract namespace of unix sockets: programs there
 * often ask for no password.
 *
 * @param own ports of the host
 */
export async function localListeners(own: readonly number[]): Promise<string[]> {
  const [v4, v6, unix] = await Promise.all(['tcp', 'tcp6', 'unix'].map(readTable))
  const ports = new Set([...(v4 ?? []), ...(v6 ?? [])].flatMap((columns) => localPort(columns)))
  const names = new Set((unix ?? []).flatMap((columns) => abstractName(columns)))
  const found = [
    ...[...ports].filter((port) => !own.includes(port)).map((port) => `port ${port}`),
    ...[...names].map((name) => `the abstract socket ${name}`),
  ]
  const more = found.length - mostNamed
  return more > 0 ? [...found.slice(0, mostNamed), `${more} more`] : found
}

async function readTable(name: string): Promise<string[][]> {
  const text = await readFile(`/proc/net/${name}`, 'utf8').catch(() => '')
  return text.split('\n').map((line) => line.trim().split(/\s+/))
}

/** An address is hexadecimal, its words as this processor writes them: 127.x.y.z ends in `7F`, also as `::ffff:127.x.y.z`. */
const local = /^(?:(?:0{16}F{4}0{4})?[0-9A-F]{6}7F|0{24}01000000|0{8}|0{16}F{4}0{12}|0{32})$/

function localPort([, place = '', , state]: readonly string[]): number[] {
  const [address = '', port = ''] = place.split(':')
  return state === listens && local.test(address) ? [Number.parseInt(port, 16)] : []
}

/** `@` stands for the zero byte. The flag says that the socket takes connections. */
function abstractName(columns: readonly string[]): string[] {
  const [, , , flags, , , , name = ''] = columns
  return flags === '00010000' && name.startsWith('@') ? [name.replaceAll(/[^ -~]/g, '?').slice(0, 60)] : []
}
