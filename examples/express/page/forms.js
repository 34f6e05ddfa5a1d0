// Forms of the demo: errors at the field, everything else in the form's alert.
import { AuthClientError } from '/latchkey/client.js'

const fieldOf = {
  invalid_credentials: 'password',
  weak_password: 'password',
  invalid_code: 'code',
  invalid_token: 'code',
  email_taken: 'email',
}
const reasonTexts = {
  too_short: 'It has fewer than 10 characters.',
  too_long: 'It is too long.',
  common: 'It is too common.',
  breached: 'It appears in a list of stolen passwords.',
  similar_to_email: 'It is too much like your email address.',
}

/** What stood below a field before an error took its place. */
const hints = new WeakMap()

/** Calls `send` with the fields when the form is submitted, and shows what went wrong where it belongs. */
export function onSubmit(id, send) {
  const form = document.getElementById(id)
  form.addEventListener('input', ({ target }) => showHint(target))
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    clear(form)
    const wrong = [...form.elements].filter((input) => input.willValidate && !input.validity.valid)
    for (const input of wrong) showFault(input, input.validationMessage)
    if (wrong.length > 0) return wrong[0].focus()

    const button = form.querySelector('[type=submit]')
    button.disabled = true
    try {
      await send(Object.fromEntries(new FormData(form)))
      form.reset()
    } catch (error) {
      showError(form, error)
    } finally {
      button.disabled = false
    }
  })
}

export function clear(form) {
  form.querySelector('.alert').hidden = true
  for (const input of form.querySelectorAll('input, select')) showHint(input)
}

export function showError(form, error) {
  const { code, errors = [] } = error
  const faults = errors.map(({ path, message }) => [form.elements[path], message])
  if (fieldOf[code]) faults.push([form.elements[fieldOf[code]], sentenceOf(error)])
  const known = faults.filter(([input]) => input)
  for (const [input, text] of known) showFault(input, text)
  if (known.length > 0) return known[0][0].focus()

  const alert = form.querySelector('.alert')
  alert.textContent = sentenceOf(error)
  alert.hidden = false
}

/** What happened and what to do, for every code that the server may answer with. */
export function sentenceOf(error) {
  if (!(error instanceof AuthClientError) || error.code === 'network_error') {
    return 'The server did not answer. Check that the demo is still running, and try again.'
  }
  const reasons = error.reasons.map((reason) => reasonTexts[reason] ?? reason)
  if (error.code === 'email_not_verified') {
    const mail = error.mailSent ? 'We sent a new mail.' : 'Use the last one.'
    return `${error.message} ${mail} See step 2.`
  }
  const wait = error.retryAfter ? [`You can try again in ${error.retryAfter} seconds.`] : []
  return [error.message, ...reasons, ...wait].join(' ')
}

function showFault(input, text) {
  const hint = hintOf(input)
  if (!hints.has(hint)) hints.set(hint, [...hint.childNodes])
  hint.textContent = text
  input.setAttribute('aria-invalid', 'true')
}

function showHint(input) {
  const hint = hintOf(input)
  if (hints.has(hint)) hint.replaceChildren(...hints.get(hint))
  input.removeAttribute('aria-invalid')
}

/** The line below the field. It also describes the field to screen readers. */
function hintOf(input) {
  const hint = input.closest('.field').querySelector('.hint')
  hint.id ||= `${input.id}-hint`
  input.setAttribute('aria-describedby', hint.id)
  return hint
}
