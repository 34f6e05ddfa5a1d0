// A page with React for react.test.ts: what it renders follows `?` in its address.
// @ts-nocheck It runs in a browser, whose types the repository leaves out.
import { createElement as h, StrictMode, Suspense, use } from 'react'
import { createRoot, hydrateRoot } from 'react-dom/client'
import { createAuthClient } from '../../dist/client.js'
import { LatchkeyProvider, Protect, SignedIn, SignedOut, useSession } from '../../dist/react.js'

const auth = createAuthClient()
const query = new URLSearchParams(location.search)
const later = new Promise((resolve) => setTimeout(resolve, 50, 'later'))

function Name({ suspends = false }) {
  if (suspends) use(later)
  const { status, user } = useSession()
  return h('li', null, user?.email ?? status)
}

const app = h(
  StrictMode,
  null,
  h(
    LatchkeyProvider,
    { client: auth, ...(query.has('rendered') ? { session: null } : {}) },
    h(
      'ul',
      null,
      Array.from({ length: 50 }, (_, key) => h(Name, { key })),
    ),
    h(Suspense, { fallback: 'waiting' }, h('ol', null, h(Name, { suspends: true }))),
    h(SignedIn, null, h('p', { id: 'in' }, 'signed in')),
    h(SignedOut, null, h('p', { id: 'out' }, 'signed out')),
    h(
      Protect,
      { roles: ['EDITOR'], fallback: h('p', { id: 'barred' }, 'not for you') },
      h('p', { id: 'editor' }, 'edit'),
    ),
  ),
)

const root = document.querySelector('#root')
if (root?.firstChild) hydrateRoot(root, app)
else if (root) createRoot(root).render(app)
Object.assign(globalThis, { auth })
