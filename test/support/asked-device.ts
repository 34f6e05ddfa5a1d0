import { createHash, randomBytes } from 'node:crypto'
import type { TestClient } from '../../src/testing.js'

/** A tool that has asked to sign in, and waits. */
export interface AskedTool {
  handle: string
  userCode: string
  url: string
  verifier: string
  /** Asks for its session. */
  poll(client?: TestClient): ReturnType<TestClient['post']>
}

/** @param tool a client that plays no browser */
export async function askedTool(tool: TestClient, name = 'ann-laptop'): Promise<AskedTool> {
  const verifier = randomBytes(32).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const asked = await tool.post<AskedTool>('/auth/admin/api/device', { challenge, client: name })
  if (asked.status !== 201) throw new Error(`the tool could not ask: ${asked.text}`)
  const { handle, userCode, url } = asked.body
  const poll = (client = tool) => client.post('/auth/admin/api/device/token', { handle, verifier })
  return { handle, userCode, url, verifier, poll }
}
