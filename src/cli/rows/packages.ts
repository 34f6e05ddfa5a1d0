import type * as CsvParse from 'csv-parse'
import type * as CsvStringify from 'csv-stringify/sync'
import type * as StreamArray from 'stream-json/streamers/stream-array.js'
import type * as StreamValues from 'stream-json/streamers/stream-values.js'
import { unlessMissing } from '../../lib/optional-package.js'
import { packagesMissing } from '../tool-error.js'

/** The optional packages that read and write files of rows, each by what is used of it. */
export interface RowPackages {
  csvParse: Pick<typeof CsvParse, 'parse'>
  csvStringify: Pick<typeof CsvStringify, 'stringify'>
  streamArray: Pick<typeof StreamArray, 'streamArray'>
  streamValues: Pick<typeof StreamValues, 'streamValues'>
}

/** How each is imported, and installed: the versions that are tested. */
const sources: { [Name in keyof RowPackages]: readonly [load: () => Promise<RowPackages[Name]>, wanted: string] } = {
  csvParse: [() => import('csv-parse'), 'csv-parse@7.0.3'],
  csvStringify: [() => import('csv-stringify/sync'), 'csv-stringify@6.9.0'],
  streamArray: [() => import('stream-json/streamers/stream-array.js'), 'stream-json@3.8.0'],
  streamValues: [() => import('stream-json/streamers/stream-values.js'), 'stream-json@3.8.0'],
}

/**
 * Loads the one that a format needs.
 *
 * @throws {ToolError} exit code 2, with the command that installs it
 */
export async function loadRowPackage<Name extends keyof RowPackages>(
  name: Name,
  load: () => Promise<RowPackages[Name]> = sources[name][0],
): Promise<RowPackages[Name]> {
  const found = await unlessMissing(load())
  if (found === null) throw packagesMissing([sources[name][1]])
  return found
}
