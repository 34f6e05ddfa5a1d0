import { request } from 'node:http'
import { parseJsonObject } from '../../lib/json-object.js'
import type { RandomSource } from '../../lib/random.js'
import { healthPath, isSame, nonceHeader, signNonce } from '../runner/hop.js'

interface Checked {
  socketPath: string
  hopKey: string
  /** Of the bundle, as it was sent to the child. */
  hash: string
  random: RandomSource
  signal: AbortSignal
}

const answerBytes = 4 * 1024

/**
 * Asks the process behind a socket to prove that it is our child: only the child has the hop key. Nothing else is sent to it
 * before.
 *
 * @returns what is wrong, as a sentence; null when all is well. Rejects when the signal aborts
 */
export async function checkHealth({ socketPath, hopKey, hash, random, signal }: Checked): Promise<string | null> {
  const nonce = random.token()
  const answer = parseJsonObject((await ask(socketPath, nonce, signal)) ?? '')
  signal.throwIfAborted()
  if (answer === null) return 'It did not answer the health check.'
  if (!isSame(answer.signature, signNonce(hopKey, nonce))) return 'Its answer to the health check is not signed by it.'
  return answer.hash === hash ? null : 'It runs another bundle.'
}

/** Null for every fault, which is one of the child. */
function ask(socketPath: string, nonce: string, signal: AbortSignal): Promise<string | null> {
  return new Promise((resolve) => {
    const sent = request({ socketPath, path: healthPath, headers: { [nonceHeader]: nonce }, agent: false, signal })
    sent.on('error', () => resolve(null))
    sent.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
        if (text.length > answerBytes) sent.destroy()
      })
      response.on('close', () => resolve(response.complete && response.statusCode === 200 ? text : null))
    })
    sent.end()
  })
}
