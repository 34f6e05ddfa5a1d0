// app/page.tsx
import { redirect } from 'next/navigation'
import { currentPrincipal } from '../lib/principal'

export default async function Page() {
  const principal = await currentPrincipal()
  if (principal?.kind !== 'session') redirect('/auth/login?redirect=/')
  return <p>Signed in as {principal.email}</p>
}
