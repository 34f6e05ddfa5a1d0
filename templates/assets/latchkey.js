// What our pages do better with a script than without; everything works without. Texts come from the page (labels).
;(() => {
  const { showPassword, tooShort, likeAddress, longEnough } = document.body.dataset

  /** A button over the end of a password field that shows what was typed (ASVS 5.0, 6.2.6). */
  function addShowButton(field) {
    const box = document.createElement('div')
    box.className = 'secret'
    field.replaceWith(box)
    const button = document.createElement('button')
    button.type = 'button'
    button.setAttribute('aria-label', showPassword)
    button.setAttribute('aria-controls', field.id)
    button.append(eye())
    box.append(field, button)

    const show = (shown) => {
      field.type = shown ? 'text' : 'password'
      button.setAttribute('aria-pressed', String(shown))
    }
    show(false)
    field.spellcheck = false
    field.autocapitalize = 'off'
    button.addEventListener('click', () => show(field.type === 'password'))
    // Browsers remember what stood in a text field.
    field.form?.addEventListener('submit', () => show(false))
  }

  function eye() {
    const svg = draw('svg', { viewBox: '0 0 24 24', 'aria-hidden': 'true' })
    svg.append(
      draw('path', { d: 'M2 12s3.6-6.5 10-6.5S22 12 22 12s-3.6 6.5-10 6.5S2 12 2 12Z' }),
      draw('circle', { cx: 12, cy: 12, r: 3 }),
      draw('path', { d: 'M4 20 20 4', class: 'struck' }),
    )
    return svg
  }

  function draw(name, attributes) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name)
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
    return element
  }

  /**
   * Says while a new password is typed which of the server's own rules it does not keep yet. The server alone decides:
   * common and breached passwords are known to it only.
   */
  function addHint(field) {
    const said = document.createElement('p')
    said.className = 'hint'
    said.setAttribute('aria-live', 'polite')
    field.closest('.secret').after(said)

    const fault = () => {
      const length = [...field.value.normalize('NFC')].length
      if (length < Number(field.dataset.minLength)) return tooShort
      return isLikeAddress(field) ? likeAddress : ''
    }
    const tell = () => {
      const found = fault()
      said.textContent = field.value === '' ? '' : found || longEnough
      said.dataset.state = found ? 'bad' : 'good'
    }
    let later = 0
    field.addEventListener('input', () => {
      clearTimeout(later)
      later = setTimeout(tell, 400)
    })
    // Never as the field is left: what is below would move away from under the pointer that presses it.
    field.addEventListener('blur', () => clearTimeout(later))
  }

  /** A part of what the server looks for. */
  function isLikeAddress(field) {
    const address = field.form?.elements.namedItem('email')?.value?.trim().toLowerCase() ?? ''
    const [local = ''] = address.split('@')
    return local.length >= 4 && field.value.normalize('NFKC').toLowerCase().includes(local)
  }

  /** Codes are pasted with what stands around them. */
  function stripBlanks(field) {
    field.addEventListener('input', () => {
      const bare = field.value.replace(/\s/g, '')
      if (bare !== field.value) field.value = bare
    })
  }

  /** Nobody sends a form twice by a second click; who comes back to the page can send it again. */
  function sendOnce(form) {
    const buttons = [...form.querySelectorAll('button:not([type="button"])')]
    let sent = false
    const lock = (locked) => {
      sent = locked
      for (const button of buttons) button.disabled = locked
    }
    form.addEventListener('submit', (event) => {
      if (sent) return event.preventDefault()
      sent = true
      // Only now, since a button that is disabled while its form is sent keeps its value from it.
      setTimeout(lock, 0, true)
      setTimeout(lock, 10_000, false)
    })
    addEventListener('pageshow', () => lock(false))
  }

  /**
   * The address that was typed, for the next page in this tab: no server may write it into an address or a log. A
   * refused form shows it again, and a page that waits for a mail tells where that went.
   */
  function keepAddress() {
    const places = [...document.querySelectorAll('[data-sent-to]')]
    const fields = [...document.querySelectorAll('input[type="email"]')]
    const kept = stored('address')
    if (kept !== null && (places.length > 0 || document.getElementById('error'))) {
      for (const place of places) {
        place.hidden = false
        place.querySelector('strong').textContent = kept
      }
      for (const field of fields) field.value ||= kept
    } else store('address', null)
    for (const field of fields) field.form?.addEventListener('submit', () => store('address', field.value))
  }

  /** Browsers that keep nothing for a page throw when they are asked. */
  function stored(name) {
    try {
      return sessionStorage.getItem(`latchkey.${name}`)
    } catch {
      return null
    }
  }

  function store(name, value) {
    try {
      if (value === null) sessionStorage.removeItem(`latchkey.${name}`)
      else sessionStorage.setItem(`latchkey.${name}`, value)
    } catch {
      // Then the address is typed again.
    }
  }

  /**
   * A page that only leads on. Not for those who come back by the browser's button, who want to be here, and not twice
   * in a row: where the way on ends here again, a person decides.
   */
  function sendAtOnce(form) {
    const [visit] = performance.getEntriesByType('navigation')
    const now = Date.now()
    const soon = now - Number(stored('sent') ?? 0) < 10_000
    if (visit?.type === 'back_forward' || soon) return
    store('sent', String(now))
    form.requestSubmit()
  }

  /** Buttons that copy or print what is shown once. */
  function addTools(place) {
    const { copies, copy, copied, print: printing } = place.dataset
    if (navigator.clipboard) {
      const button = addTool(place, copy, async () => {
        const lines = [...document.getElementById(copies).children].map((item) => item.textContent)
        await navigator.clipboard.writeText(lines.join('\n'))
        button.textContent = copied
      })
      button.setAttribute('aria-live', 'polite')
    }
    addTool(place, printing, () => print())
  }

  function addTool(place, text, act) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'small secondary'
    button.textContent = text
    button.addEventListener('click', act)
    place.append(button)
    return button
  }

  for (const place of document.querySelectorAll('[data-copies]')) addTools(place)
  for (const field of document.querySelectorAll('input[type="password"]')) addShowButton(field)
  for (const field of document.querySelectorAll('input[data-min-length]')) addHint(field)
  for (const field of document.querySelectorAll('input.code')) stripBlanks(field)
  for (const form of document.querySelectorAll('form')) sendOnce(form)
  keepAddress()

  // What went wrong is read out, and the next Tab leads to the field. Once loaded, since the jump to a part of the page
  // takes the focus away.
  addEventListener('load', () => document.querySelector('[role="alert"]')?.focus())

  for (const form of document.querySelectorAll('form[data-send-at-once]')) sendAtOnce(form)
})()
