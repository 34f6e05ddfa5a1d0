import type { Environment } from './environment.js'
import type { Output } from './output.js'
import type { Prompts } from './prompts.js'
import { usage } from './tool-error.js'

const mostBytes = 64 * 1024

/**
 * A secret of the command line. `-` reads it from stdin, less one newline. A missing one is asked for with hidden input. One in
 * clear works, with a warning, because shells keep it in their history.
 */
export async function readSecret(
  { environment, output, prompts }: { environment: Environment; output: Output; prompts: Prompts },
  given: string | undefined,
  { question, option }: { question: string; option: string },
): Promise<string> {
  if (given === undefined) return prompts.secret(question, `${option} -, which reads it from stdin`)
  if (given === '-') return readStdin(environment, option)
  output.note(`warning: your shell keeps ${option} in its history. Give ${option} - and the secret on stdin.`)
  return given
}

async function readStdin({ stdin }: Environment, option: string): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > mostBytes) throw usage(`stdin has more than ${mostBytes / 1024} KiB for ${option}.`)
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '')
}
