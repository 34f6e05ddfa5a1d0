// app/auth/[...path]/route.ts
import { auth } from '../../../lib/auth'

const handler = (request: Request) => auth.fetch(request)

export { handler as DELETE, handler as GET, handler as PATCH, handler as POST }
