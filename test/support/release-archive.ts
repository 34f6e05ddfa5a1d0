import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { type Header, pack } from 'tar-stream'

export type ArchiveEntry = Partial<Omit<Header, 'name'>> & { name: string; content?: string | Uint8Array }

/** The files of a small release. */
export const releaseContents: Readonly<Record<string, string>> = {
  'bundle.mjs': 'export default { routehooks: {} }\n',
  'bundle.mjs.map': '{"version":3,"sources":[],"names":[],"mappings":""}',
  'assets/public/index.html': '<h1>Hello</h1>',
  'assets/public/empty.txt': '',
}

/** A tar file of any entries, right or wrong. */
export function tarOf(entries: readonly ArchiveEntry[]): Promise<Buffer> {
  const archive = pack()
  for (const { content, ...header } of entries) {
    if (content === undefined || (header.type !== undefined && header.type !== 'file')) archive.entry(header)
    else archive.entry({ mtime: new Date(0), ...header }, Buffer.from(content))
  }
  archive.finalize()
  return buffer(archive)
}

/** `release.json` of these files, as the tool writes it; `more` replaces fields. */
export function manifestOf(
  files: Readonly<Record<string, string | Uint8Array>>,
  more: Readonly<Record<string, unknown>> = {},
): ArchiveEntry {
  const listed = Object.entries(files).map(([path, content]) => ({
    path,
    bytes: Buffer.byteLength(content),
    sha256: createHash('sha256').update(content).digest('hex'),
  }))
  return {
    name: 'release.json',
    content: JSON.stringify({ format: 1, tool: '1.0.0', git: null, files: listed, ...more }),
  }
}

export function entriesOf(files: Readonly<Record<string, string | Uint8Array>>): ArchiveEntry[] {
  return Object.entries(files).map(([name, content]) => ({ name, content }))
}

/** The archive of a release with these files. */
export async function archiveOf(files: Readonly<Record<string, string | Uint8Array>>): Promise<Buffer> {
  return gzipSync(await tarOf([manifestOf(files), ...entriesOf(files)]))
}
