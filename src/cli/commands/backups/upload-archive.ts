import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { noFile } from '../../files/trusted-file.js'
import type { HostHome, Restored, RestoreUpload } from '../../host-home.js'
import { startProgress } from '../../progress.js'
import type { Tool } from '../../tool.js'
import { size } from '../sizes.js'

type Archive = Pick<RestoreUpload, 'open' | 'size'>

/** @throws {ToolError} usage, before anything is sent */
export async function openArchive(path: string): Promise<Archive> {
  const found = await stat(path).catch(() => null)
  if (found === null || !found.isFile()) throw noFile(path)
  return { open: () => createReadStream(path), size: found.size }
}

/** Uploads an archive with its progress on stderr, and waits until it is restored. */
export async function uploadArchive(
  { environment, output }: Tool,
  host: HostHome,
  asked: Omit<RestoreUpload, 'onSent' | 'onStep'>,
): Promise<Restored> {
  const total = size(asked.size)
  const progress = await startProgress(environment, `Uploading ${total}`, output.json)
  const onSent = (bytes: number) =>
    progress.step(`Uploading ${size(bytes)} of ${total}`, bytes / Math.max(1, asked.size))
  const onStep: RestoreUpload['onStep'] = ({ processed, of, field }) =>
    progress.step(
      field === null ? `${processed} of ${of} objects` : `Index for ${field}, ${processed} of ${of} objects`,
    )
  return host.restore({ ...asked, onSent, onStep }).finally(progress.stop)
}
