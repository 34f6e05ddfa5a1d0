import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundleSource } from './storage-threads.js'

/** Builds the program of a worker for queries into a folder. */
export async function queryProgram(folder: string): Promise<URL> {
  const file = join(folder, 'query.mjs')
  await writeFile(file, await bundleSource(`import '../../workers/program/main.js'`))
  return pathToFileURL(file)
}
