// app/api/hello/route.ts
import { auth } from '../../../lib/auth'

export function GET(request: Request) {
  return auth.fetch(request, {
    next: (_request, principal) => Response.json({ hello: principal?.kind === 'session' ? principal.email : null }),
  })
}
