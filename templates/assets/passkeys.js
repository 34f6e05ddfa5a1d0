// Passkeys on our pages. Without a script, or in a browser without passkeys, nothing of them shows. Texts come from the page.
import { createPasskeys } from '../../src/client/passkeys.ts'

const base = document.currentScript.src.replace(/\/assets\/[^/]*$/, '')
const passkeys = createPasskeys({ get: caller('GET'), post: caller('POST') })

function caller(method) {
  return async (path, body) => {
    const json = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const send = () => fetch(base + path, { method, ...json })
    let answer = await send()
    // The page was open for longer than its access token is valid. By then the browser may have dropped its cookie.
    if (answer.status === 401 && ['token_expired', 'unauthenticated'].includes(await codeOf(answer))) {
      await fetch(`${base}/refresh`, { method: 'POST' })
      answer = await send()
    }
    const text = await answer.text()
    const result = text === '' ? null : JSON.parse(text)
    if (!answer.ok) throw { ...result, path }
    return result
  }
}

async function codeOf(answer) {
  return (await answer.clone().json()).code
}

/** A fragment alone would not load the page again. */
function go(address, parameters = {}) {
  const url = new URL(address, location.href)
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  const isHere = url.href.split('#')[0] === location.href.split('#')[0]
  location.assign(url)
  if (isHere) location.reload()
}

/** The server has a sentence for each code. */
function showError(place, error) {
  const { here = location.pathname, at } = place.dataset
  const code = error.name === 'PasskeyError' ? `passkey_${error.code}` : (error.code ?? 'internal_error')
  const shown = code === 'invalid_token' ? 'passkey_expired' : code
  go(here, { error: shown, ...(at && { at }) })
}

/** A button, or a place with one, and what it does. `data-next` is where that leads; `data-here` shows an error. */
function offer(place) {
  const { passkey, next = location.href } = place.dataset
  const form = place.matches('form') ? place : null
  const button = place.matches('button') ? place : [...place.querySelectorAll('button')].at(-1)
  const status = place.querySelector('[data-cancelled]')
  status?.setAttribute('role', 'status')
  place.hidden = false
  const act = async (event) => {
    event.preventDefault()
    button.disabled = true
    if (status) status.hidden = true
    try {
      await actions[passkey](form?.elements.namedItem('password')?.value)
      go(next)
    } catch (error) {
      button.disabled = false
      if (error.code !== 'cancelled') showError(place, error)
      else if (status) status.hidden = false
    }
  }
  if (form) form.addEventListener('submit', act)
  else button.addEventListener('click', act)
}

const actions = {
  'sign-in': () => passkeys.signInWithPasskey(),
  'second-step': () => passkeys.verifyTwoFactor({}),
  confirm: () => passkeys.reauthenticate(),
  add: (password) => passkeys.addPasskey(password ? { password } : {}),
}

/** Registers with the address alone. Once the mail is proved, the page for a new passkey comes first. */
function offerWithoutPassword(button) {
  const { form } = button
  const password = form.elements.namedItem('password')
  button.hidden = false
  button.addEventListener('click', () => {
    password.disabled = true
    if (form.reportValidity()) {
      leadTo(form, button.dataset.withoutPassword)
      form.requestSubmit()
    }
    // A page that is shown again has its field again.
    setTimeout(() => {
      password.disabled = false
    })
  })
}

function leadTo(form, address) {
  const field = form.elements.namedItem('_redirect') ?? document.createElement('input')
  Object.assign(field, { type: 'hidden', name: '_redirect', value: address })
  form.append(field)
}

/** After a sign-in by password, a page of ours asks the password manager for a passkey. */
async function leadToUpgrade(form) {
  const able = await PublicKeyCredential.getClientCapabilities?.()
  if (able?.conditionalCreate) leadTo(form, form.dataset.upgrade)
}

/** That page: it shows what there is to do only when the browser does not answer at once. */
async function upgrade(place) {
  const patience = new Promise((resolve) => setTimeout(resolve, 3000))
  await Promise.race([passkeys.upgrade(), patience])
  location.replace(place.dataset.passkeyUpgrade)
}

/**
 * Only a passkey that was chosen and refused is worth an error. The page loads itself anew to show one, and would do so for
 * ever where the server refuses to begin.
 */
function isOfChosenPasskey({ path, code }) {
  return path === '/passkeys/login' && code !== 'invalid_token'
}

function start() {
  const all = (selector) => [...document.querySelectorAll(selector)]
  for (const place of all('[data-passkey-upgrade]')) void upgrade(place)
  if (!passkeys.supported()) return
  for (const place of all('[data-passkey]')) offer(place)
  for (const button of all('[data-without-password]')) offerWithoutPassword(button)
  for (const form of all('form[data-upgrade]')) void leadToUpgrade(form)
  const own = all('[data-passkey-section]')
  for (const place of own) place.hidden = false
  if (own.length > 0) void passkeys.signal()
  const signIn = document.querySelector('[data-passkey="sign-in"]')
  for (const field of signIn ? all('input[autocomplete~="webauthn"]') : []) {
    passkeys.autofill(field, {
      onSignedIn: () => go(signIn.dataset.next),
      onError: (error) => isOfChosenPasskey(error) && showError(signIn, error),
    })
  }
}

start()
