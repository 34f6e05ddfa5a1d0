/** What authenticators write: the part of CBOR (RFC 8949) that CTAP2 uses. */
export type Cbor = number | string | boolean | Uint8Array | readonly Cbor[] | ReadonlyMap<number | string, Cbor>

export function encodeCbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'boolean') return Buffer.from([value ? 0xf5 : 0xf4])
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value])
  if (value instanceof Map) {
    return Buffer.concat([head(5, value.size), ...[...value].flat().map((part: Cbor) => encodeCbor(part))])
  }
  return isList(value) ? Buffer.concat([head(4, value.length), ...value.map(encodeCbor)]) : Buffer.alloc(0)
}

function isList(value: Cbor): value is readonly Cbor[] {
  return Array.isArray(value)
}

/** The major type and its argument, in the shortest form. */
function head(majorType: number, argument: number): Buffer {
  const type = majorType << 5
  if (argument < 24) return Buffer.from([type | argument])
  if (argument < 0x100) return Buffer.from([type | 24, argument])
  const long = argument >= 0x10000
  const bytes = Buffer.alloc(long ? 5 : 3)
  bytes[0] = type | (long ? 26 : 25)
  if (long) bytes.writeUInt32BE(argument, 1)
  else bytes.writeUInt16BE(argument, 1)
  return bytes
}
