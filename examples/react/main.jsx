import { createAuthClient } from 'latchkey/client'
import { LatchkeyProvider, Protect, SignedIn, SignedOut, useSession } from 'latchkey/react'
import { StrictMode, useState } from 'react'
import { createRoot } from 'react-dom/client'

// One client for the page, made outside of components.
const auth = createAuthClient()

function Account() {
  const { user, client } = useSession()
  return (
    <p>
      Signed in as {user?.email}.{' '}
      <button type="button" onClick={() => client.signOut()}>
        Sign out
      </button>
    </p>
  )
}

/** Calls a guarded route: the client refreshes the session when the access token has expired. */
function Call({ path, children }) {
  const { client } = useSession()
  const [answer, setAnswer] = useState('')

  async function call() {
    try {
      const response = await client.fetch(path)
      setAnswer(await response.text())
    } catch {
      setAnswer('The server did not answer. Try again.')
    }
  }

  return (
    <p>
      <button type="button" onClick={call}>
        {children}
      </button>{' '}
      <output>{answer}</output>
    </p>
  )
}

function App() {
  return (
    <main>
      <h1>Latchkey with React</h1>
      <SignedOut>
        <p>
          <a href="/auth/login?redirect=/">Sign in</a> or <a href="/auth/register">create an account</a>
        </p>
      </SignedOut>
      <SignedIn>
        <Account />
        <Call path="/api/hello">Call the API</Call>
        <Protect roles={['ADMIN']} fallback={<p>Only ada@example.com sees the list of users.</p>}>
          <Call path="/api/users">List users</Call>
        </Protect>
      </SignedIn>
    </main>
  )
}

createRoot(document.getElementById('root')).render(
  <StrictMode>
    <LatchkeyProvider client={auth}>
      <App />
    </LatchkeyProvider>
  </StrictMode>,
)
