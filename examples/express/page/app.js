// The page of the demo: a client of Latchkey in plain JavaScript. `call` is all that yours has to do.

const element = (id) => document.getElementById(id)
let refreshing = null

/** Asks the API; when the access token has expired, refreshes once and asks again. */
async function call(method, path, body) {
  const headers = { 'Content-Type': 'application/json' }
  const ask = () => fetch(path, { method, credentials: 'include', headers, body: body && JSON.stringify(body) })

  let response = await ask()
  let answer = await read(response)
  if (response.status === 401 && ['token_expired', 'unauthenticated'].includes(answer.code) && (await refresh())) {
    response = await ask()
    answer = await read(response)
  }
  if (response.ok) return answer
  throw Object.assign(new Error(answer.detail ?? 'The server could not answer.'), answer, { status: response.status })
}

/** Everything on this page that finds the token expired waits for one refresh. Other tabs may refresh too. */
function refresh() {
  refreshing ??= fetch('/auth/refresh', { method: 'POST', credentials: 'include' })
    .then((response) => response.ok)
    .finally(() => {
      refreshing = null
    })
  return refreshing
}

async function read(response) {
  return response.headers.get('content-type')?.includes('json') ? response.json() : {}
}

/** Shows who is signed in, with notes and sessions, or the two forms. */
async function show() {
  try {
    const { user } = await call('GET', '/auth/me')
    const [notes, { sessions }] = await Promise.all([call('GET', '/api/notes'), call('GET', '/auth/sessions')])
    element('email').textContent = user.email
    element('notes').replaceChildren(...notes.map((note) => item(note.text)))
    element('sessions').replaceChildren(...sessions.map(sessionItem))
    display(true)
  } catch (error) {
    display(false)
    if (error.code !== 'unauthenticated') throw error
  }
}

function display(signedIn) {
  element('who').hidden = !signedIn
  element('inside').hidden = !signedIn
  element('outside').hidden = signedIn
}

function item(...content) {
  const line = document.createElement('li')
  line.append(...content)
  return line
}

function sessionItem({ id, device, ip, lastSeenAt, current }) {
  const seen = document.createElement('small')
  seen.textContent = `${ip ?? 'unknown address'}, seen ${new Date(lastSeenAt).toLocaleString()}`
  if (current) return item(`${device} (this one) `, seen)

  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Sign it out'
  button.addEventListener('click', () =>
    act(() => call('DELETE', `/auth/sessions/${id}`), 'That device is signed out.'),
  )
  return item(`${device} `, seen, ' ', button)
}

/** Does one thing, shows how things stand then, and says what came of it. */
async function act(deed, success) {
  const message = element('message')
  try {
    await deed()
    await show()
    message.textContent = success
  } catch (error) {
    if (error.status === 401) display(false)
    const reasons = (error.reasons ?? []).map((reason) => reason.replaceAll('_', ' '))
    message.textContent = [error.message, ...reasons].join(' ')
  }
  message.scrollIntoView({ block: 'nearest' })
}

/** Sends a form's fields with `send` when it is submitted, and empties it when that worked. */
function onSubmit(id, send, success) {
  element(id).addEventListener('submit', (event) => {
    event.preventDefault()
    const form = event.currentTarget
    act(async () => {
      await send(Object.fromEntries(new FormData(form)))
      form.reset()
    }, success)
  })
}

onSubmit('sign-in', (fields) => call('POST', '/auth/login', fields), 'Welcome.')
onSubmit(
  'register',
  (fields) => call('POST', '/auth/register', fields),
  'Nearly done: open the mailbox at the address that the server printed, and follow the link in the mail.',
)
onSubmit('add', (fields) => call('POST', '/api/notes', fields), 'Added.')
element('sign-out').addEventListener('click', () => act(() => call('POST', '/auth/logout'), 'Signed out.'))
act(() => {}, '')
