import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'

/** A DNS server on loopback that knows TXT records only (RFC 1035). */
export interface DnsServer {
  /** For `createTxtRecords`. */
  address: string
  /** TXT records by lower-case name. Other names do not exist. */
  records: Map<string, readonly string[]>
  /** The names that were asked for, in order. */
  asked: string[]
}

export async function startDnsServer(records: Readonly<Record<string, readonly string[]>> = {}): Promise<DnsServer> {
  const socket = createSocket('udp4')
  const server: DnsServer = { address: '', records: new Map(Object.entries(records)), asked: [] }
  socket.on('message', (query, from) => {
    const { name, end } = readName(query, 12)
    server.asked.push(name)
    socket.send(answerTo(query.subarray(0, end + 4), server.records.get(name)), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  onTestFinished(() => void socket.close())
  server.address = `127.0.0.1:${socket.address().port}`
  return server
}

function readName(query: Buffer, start: number): { name: string; end: number } {
  const labels: string[] = []
  let at = start
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.subarray(at + 1, at + 1 + length).toString('latin1'))
    at += length + 1
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}

/** `question` is the head and the one question of the query. Without records: NXDOMAIN. */
function answerTo(question: Buffer, records: readonly string[] | undefined): Buffer {
  const head = Buffer.from(question)
  head.writeUInt16BE(records === undefined ? 0x8183 : 0x8180, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(records?.length ?? 0, 6)
  head.writeUInt32BE(0, 8)
  return Buffer.concat([head, ...(records ?? []).map(txtRecord)])
}

function txtRecord(text: string): Buffer {
  const pieces = text.match(/.{1,255}/g) ?? ['']
  const value = Buffer.concat(pieces.map((piece) => Buffer.from([piece.length, ...Buffer.from(piece)])))
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc00c, 0) // the name of the question
  head.writeUInt16BE(16, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt32BE(60, 6)
  head.writeUInt16BE(value.length, 10)
  return Buffer.concat([head, value])
}
