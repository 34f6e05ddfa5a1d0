import { usage } from '../tool-error.js'

/** Bytes that the encoding does not have. */
export class WrongEncoding extends Error {}

/** Names of encodings that no standard has, but other tools. */
const names: Readonly<Record<string, string>> = { utf16le: 'utf-16le', utf16be: 'utf-16be', ucs2: 'utf-16le' }

/**
 * A text in UTF-8 without its byte order mark, from one in any encoding of the web.
 *
 * @throws {WrongEncoding}
 * @throws {ToolError} usage, for an unknown encoding
 */
export async function* toUtf8(bytes: AsyncIterable<Uint8Array>, encoding: string): AsyncGenerator<Buffer> {
  const decoder = decoderOf(encoding)
  const decode = (piece?: Uint8Array) => {
    try {
      return Buffer.from(decoder.decode(piece, { stream: piece !== undefined }))
    } catch {
      throw new WrongEncoding()
    }
  }
  for await (const piece of bytes) yield decode(piece)
  yield decode()
}

export function isUtf8(encoding: string): boolean {
  return decoderOf(encoding).encoding === 'utf-8'
}

function decoderOf(encoding: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(names[encoding.toLowerCase()] ?? encoding, { fatal: true })
  } catch {
    throw usage(`--encoding takes utf-8, utf-16le, latin1 or another encoding of the web, not "${encoding}".`)
  }
}
