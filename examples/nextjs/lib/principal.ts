// lib/principal.ts
import { headers } from 'next/headers'
import { auth } from './auth'

export async function currentPrincipal() {
  return auth.principal(new Request('http://localhost', { headers: await headers() }))
}
