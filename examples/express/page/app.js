// The page of the demo, over the browser client. In an application: import { createAuthClient } from 'latchkey/client'
import { AuthClientError, createAuthClient } from '/latchkey/client.js'
import { clear, onSubmit, sentenceOf, showError } from './forms.js'

const auth = createAuthClient()
const element = (id) => document.getElementById(id)

/** What the page knows besides the session. */
const state = { pending: null, secondStep: false, enrolment: null }

/** Like `auth.fetch`, for JSON: resolves with the body, rejects with an AuthClientError. */
async function api(path, method = 'GET', body = undefined) {
  const json = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await auth.fetch(path, { method, ...json })
  const answer = await response.json().catch(() => ({}))
  if (response.ok) return answer
  throw new AuthClientError(response.status, answer, Number(response.headers.get('retry-after')) || null)
}

/** Shows the parts of each step that fit the state. `data-for` in the page says when a part is shown. */
function show() {
  const session = auth.session.get()
  if (session === undefined) return
  const { pending, secondStep, enrolment } = state
  const user = session?.user
  const parts = {
    'signed-in': session !== null,
    'signed-out': session === null,
    'first-step': session === null && !secondStep,
    'second-step': session === null && secondStep,
    pending: session === null && pending !== null,
    new: session === null && pending === null,
    'one-factor': user?.twoFactor === false && enrolment === null,
    scan: user?.twoFactor === false && enrolment !== null,
    'two-factor': user?.twoFactor === true,
  }
  for (const part of document.querySelectorAll('[data-for]')) part.hidden = !parts[part.dataset.for]
  element('signed-in').hidden = session === null
  element('email').textContent = user?.email ?? ''
  element('pending').textContent = pending ?? ''
  for (const step of ['account', 'mail', 'sign-in']) done(step, session !== null)
  if (session === null && pending !== null) done('account', true)
  done('two-factor', user?.twoFactor === true)
  if (session === null) for (const step of ['api', 'token']) done(step, false)
}

function done(step, isDone) {
  element(`step-${step}`).classList.toggle('done', isDone)
}

function say(text, isGood = true) {
  const message = element('message')
  message.textContent = text
  message.hidden = text === ''
  message.classList.toggle('good', isGood)
}

const sayError = (error) => say(sentenceOf(error), false)

/** Loads what the signed-in user sees: notes, tokens and the audit log. */
async function load() {
  if (!auth.session.get()) return
  const [notes, tokens, events] = await Promise.all(
    ['/api/notes', '/api/tour/tokens', '/api/tour/audit'].map((path) => api(path)),
  )
  element('notes').replaceChildren(...notes.map(({ text }) => made('li', text)))
  element('tokens').replaceChildren(...tokens.map(tokenRow))
  element('audit').replaceChildren(...events.map(eventRow))
  done('api', notes.length > 0)
  done('token', tokens.length > 0)
}

/** An element of the page. Text goes in as text, so nothing that a user wrote becomes markup. */
function made(name, ...children) {
  const node = document.createElement(name)
  node.append(...children)
  return node
}

function tokenRow({ id, name, access }) {
  const button = Object.assign(made('button', 'Remove'), { type: 'button', className: 'small danger' })
  button.addEventListener('click', () =>
    act(() => api(`/api/tour/tokens/${id}`, 'DELETE'), `The token ${name} is removed.`),
  )
  return made('li', made('span', name, made('small', access === 'READ' ? 'Read only' : 'Read and write')), button)
}

function eventRow({ at, event, outcome, actor }) {
  const by = { user: 'you', application: 'the server', system: 'Latchkey' }[actor?.kind] ?? 'a visitor'
  const text = event.replaceAll('_', ' ')
  const time = Object.assign(made('time', timeOf(at)), { dateTime: at, title: new Date(at).toLocaleString() })
  return made('tr', made('td', outcome === 'success' ? text : `${text} (failed)`), made('td', by), made('td', time))
}

function timeOf(at) {
  return new Date(at).toLocaleTimeString()
}

/** Does something outside of a form and says how it went. */
async function act(deed, success = '') {
  try {
    await deed()
    say(success)
    await load()
  } catch (error) {
    sayError(error)
  }
}

/** Every way to sign in ends here: in a session, or in the question for the second factor. */
function enter(answer) {
  state.secondStep = answer.status === 'two_factor_required'
  if (!state.secondStep) return
  say('')
  show()
  element('second-step-code').focus()
}

onSubmit('register', async (fields) => {
  const answer = await auth.signUp(fields)
  if (answer.status === 'verification_sent') state.pending = fields.email
  show()
})

onSubmit('confirm', async ({ code }) => enter(await auth.verifyEmail({ email: state.pending, code })))

onSubmit('sign-in', async (fields) => {
  try {
    enter(await auth.signIn(fields))
  } catch (error) {
    // The password is right, so the mail can be read in step 2.
    if (error.code === 'email_not_verified') state.pending = fields.email
    show()
    throw error
  }
})

onSubmit('second-step', async (fields) => {
  try {
    await auth.verifyTwoFactor(fields)
    state.secondStep = false
  } catch (error) {
    // The sign-in took too long, or too many codes were wrong: it starts again with the password.
    if (error.code !== 'invalid_token') throw error
    state.secondStep = false
    show()
    showError(element('sign-in'), error)
  }
})

onSubmit('add', async ({ text }) => {
  await api('/api/notes', 'POST', { text })
  await load()
})

onSubmit('two-factor-start', async (fields) => {
  state.enrolment = await auth.post('/two-factor/totp', fields)
  element('qr').src = state.enrolment.qrCode
  element('secret').textContent = state.enrolment.secret.match(/.{1,4}/g).join(' ')
  show()
})

onSubmit('two-factor-confirm', async (fields) => {
  try {
    const { backupCodes } = await auth.post('/two-factor/totp/confirm', fields)
    element('backup-codes').replaceChildren(...backupCodes.map((code) => made('li', made('code', code))))
    element('backup').hidden = false
    state.enrolment = null
  } catch (error) {
    // The key waits for a short time only: then the step starts again.
    if (error.code !== 'invalid_token') throw error
    state.enrolment = null
    show()
    showError(element('two-factor-start'), error)
  }
  await load()
})

onSubmit('two-factor-off', async (fields) => {
  await auth.delete('/two-factor', fields)
  element('backup').hidden = true
  await load()
})

onSubmit('token', async (fields) => {
  const { token } = await api('/api/tour/tokens', 'POST', fields)
  const call = `curl ${location.origin}/api/notes -H 'x-apikey: ${token}'`
  const write = `${call} \\\n  -H 'content-type: application/json' -d '{"text":"Sent by curl"}'`
  element('curl').textContent = fields.access === 'READ' ? call : `${write}\n${call}`
  element('created').hidden = false
  await load()
})

element('copy').addEventListener('click', () =>
  act(() => navigator.clipboard.writeText(element('curl').textContent), 'Copied.'),
)
element('resend').addEventListener('click', () =>
  act(() => auth.post('/verify-email/resend', { email: state.pending }), 'Another mail is in the mailbox.'),
)
element('other-address').addEventListener('click', () => {
  state.pending = null
  show()
})
element('start-again').addEventListener('click', () => {
  state.secondStep = false
  clear(element('second-step'))
  show()
})
element('sign-out').addEventListener('click', () => act(auth.signOut, 'You are signed out. Sign in again in step 3.'))
element('reload').addEventListener('click', () => act(() => {}))
element('call').addEventListener('click', () => call(() => auth.fetch('/api/notes')))
element('call-without').addEventListener('click', () => call(() => fetch('/api/notes', { credentials: 'omit' })))

async function call(send) {
  await act(async () => {
    const response = await send()
    element('answer').textContent = `HTTP ${response.status}\n${JSON.stringify(await response.json(), null, 2)}`
    element('answer').hidden = false
  })
}

/** Called at the start and after each change of the session, here and in other tabs. */
auth.session.subscribe(() => {
  if (auth.session.get()) {
    Object.assign(state, { pending: null, secondStep: false })
    say('')
  } else {
    state.enrolment = null
    for (const id of ['backup', 'created']) element(id).hidden = true
  }
  show()
  load().catch(sayError)
})

// The link of the mail may have signed in from another tab, and curl may have written notes.
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') auth.session.load().then(load).catch(sayError)
})
