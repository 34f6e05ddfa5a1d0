// The page of another site. In an application: import { createAuthClient } from 'latchkey/client'
import { createAuthClient } from '/latchkey/client.js'
import { baseUrl } from '/settings.js'

const auth = createAuthClient({ baseUrl })
const element = (id) => document.getElementById(id)
let waiting = null

/** Called at the start and after each change, here and in other tabs. */
function show() {
  const session = auth.session.get()
  if (session === undefined) return
  element('outside').hidden = session !== null || waiting !== null
  element('confirm').hidden = session !== null || waiting === null
  element('inside').hidden = session === null
  say(session ? `Signed in as ${session.user.email}` : '')
}

function say(text) {
  element('message').textContent = text
}

/** Does one thing, and says why it did not work. */
async function act(deed) {
  try {
    await deed()
  } catch (error) {
    say([error.message, ...(error.reasons ?? [])].join(' '))
  }
}

element('outside').addEventListener('submit', (event) => {
  event.preventDefault()
  const { email, password } = Object.fromEntries(new FormData(event.currentTarget))
  const deed = event.submitter.value
  act(async () => {
    const answer = await auth[deed]({ email, password })
    if (answer.status !== 'verification_sent') return
    waiting = email
    show()
    say('A mail with a code is on its way: see the mailbox at the address that the server printed.')
  })
})

element('confirm').addEventListener('submit', (event) => {
  event.preventDefault()
  const { code } = Object.fromEntries(new FormData(event.currentTarget))
  act(() => auth.verifyEmail({ email: waiting, code }))
})

element('hello').addEventListener('click', () =>
  act(async () => {
    const answer = await auth.fetch('/api/hello')
    say(JSON.stringify(await answer.json()))
  }),
)
element('sign-out').addEventListener('click', () => act(auth.signOut))
auth.session.subscribe(() => {
  waiting = null
  show()
})
