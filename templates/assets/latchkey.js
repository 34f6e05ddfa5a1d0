// What our pages do better with a script than without; everything works without. Texts come from the page (labels).
;(() => {
  const { showPassword, tooShort, likeAddress, strength = '' } = document.body.dataset
  const language = document.documentElement.lang
  const all = (selector, within = document) => [...within.querySelectorAll(selector)]

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
   * Says while a new password is typed which rule of the server it breaks, else how hard it is to guess. An estimate: the
   * server alone decides, since it alone knows common and breached passwords. Nothing is sent.
   */
  function addMeter(field) {
    const meter = document.createElement('div')
    meter.className = 'meter'
    meter.append(...[1, 2, 3, 4].map(() => document.createElement('i')))
    const said = document.createElement('p')
    said.className = 'hint'
    said.setAttribute('aria-live', 'polite')
    field.closest('.secret').after(meter, said)

    const judge = () => {
      const text = field.value.normalize('NFC')
      if (text === '') return [0, '']
      if ([...text].length < Number(field.dataset.minLength)) return [1, tooShort]
      if (isLikeAddress(field)) return [1, likeAddress]
      const bits = guessingBits(text)
      const level = bits < 35 ? 1 : bits < 48 ? 2 : bits < 60 ? 3 : 4
      return [level, strength.split('|')[level - 1] ?? '']
    }
    const show = () => {
      const [level, sentence] = judge()
      meter.dataset.level = level
      said.textContent = sentence
    }
    let later = 0
    field.addEventListener('input', () => {
      clearTimeout(later)
      later = setTimeout(show, 400)
    })
    // Not when the field is left: what is below would move away from under the pointer that presses it.
    field.addEventListener('blur', () => clearTimeout(later))
  }

  /**
   * About how many bits it takes to guess a text: letters within a word count little, a repeated or next character
   * (`aaa`, `123`) hardly at all, a change of kind much.
   */
  function guessingBits(text) {
    const kinds = [/\p{Ll}/u, /\p{Lu}/u, /\p{N}/u, /\s/u]
    const kindOf = (character) => kinds.findIndex((kind) => kind.test(character))
    const characters = [...text]
    const seen = new Set()
    return characters.reduce((bits, character, index) => {
      const before = characters[index - 1] ?? ''
      const step = character.codePointAt(0) - (before.codePointAt(0) ?? 0)
      const pair = before + character
      const known = seen.has(pair)
      seen.add(pair)
      if (Math.abs(step) <= 1 || known) return bits + 0.5
      return bits + (kindOf(character) === kindOf(before) ? 2.3 : 4.5)
    }, 0)
  }

  /** A part of what the server looks for. */
  function isLikeAddress(field) {
    const address = field.form?.elements.namedItem('email')?.value?.trim().toLowerCase() ?? ''
    const [local = ''] = address.split('@')
    return local.length >= 4 && field.value.normalize('NFKC').toLowerCase().includes(local)
  }

  /** Codes are pasted with the blanks around and within them. */
  function stripBlanks(field) {
    field.addEventListener('input', () => {
      const bare = field.value.replace(/\s/g, '')
      if (bare !== field.value) field.value = bare
    })
  }

  /**
   * A box for each digit of a code whose length is known: `data-segments` says it, and without a number it is six. Below
   * them stays the one field, so that pasting, autofill and screen readers find what they know. The last digit sends the
   * form. A mailed sign-in code has six digits or eight, so its field has no boxes and the visitor sends the form.
   */
  function addSegments(field) {
    const digits = Number(field.dataset.segments) || 6
    const box = document.createElement('div')
    box.className = 'segments'
    const cells = Array.from({ length: digits }, () => document.createElement('i'))
    for (const cell of cells) cell.setAttribute('aria-hidden', 'true')
    field.replaceWith(box)
    box.append(...cells, field)
    const { inputMode } = field
    field.inputMode = 'numeric'

    const paint = () => {
      for (const [index, cell] of cells.entries()) {
        cell.textContent = field.value[index] ?? ''
        cell.classList.toggle('next', index === Math.min(field.value.length, digits - 1))
      }
    }
    const leave = () => {
      box.replaceWith(field)
      field.inputMode = inputMode
      field.focus()
    }
    field.addEventListener('input', (event) => {
      if (!box.contains(field)) return
      if (/\D/.test(field.value) || field.value.length > digits) return leave()
      paint()
      // Whatever fills the field from outside sends the form itself.
      if (event.isTrusted && field.value.length === digits && field.form.checkValidity()) field.form.requestSubmit()
    })
    // Digits are added at the end and taken from there.
    const toEnd = () => box.contains(field) && field.setSelectionRange(field.value.length, field.value.length)
    for (const name of ['focus', 'click', 'keyup']) field.addEventListener(name, toEnd)
    paint()

    if (!field.dataset.or) return
    const other = document.createElement('button')
    other.type = 'button'
    other.className = 'plain'
    other.textContent = field.dataset.or
    other.addEventListener('click', () => {
      other.remove()
      leave()
    })
    const hint = document.getElementById(field.getAttribute('aria-describedby').split(' ')[0])
    hint.after(other)
  }

  /** A second click does not send a form twice. After coming back to the page, the visitor can send it again. */
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
      for (const form of all('form[data-needs-address]')) {
        const field = document.createElement('input')
        Object.assign(field, { type: 'hidden', name: 'email', value: kept })
        form.append(field)
        form.hidden = false
      }
    } else store('address', null)
    for (const field of fields) field.form?.addEventListener('submit', () => store('address', field.value))
  }

  /**
   * Forms that send a mail. The server sends so many mails to an address in a window, and no more; a form that sends one
   * again waits that long, and half a minute after each, since a mail takes a moment.
   */
  function countMails(form) {
    const { mails, limit = '', wait } = form.dataset
    const name = `mails.${mails}`
    const now = () => Math.floor(Date.now() / 1000)
    const [count = 0, seconds = 0] = limit.split('/').map(Number)
    const read = () => {
      const [begun = 0, last = 0, sent = 0] = (stored(name) ?? '').split(' ').map(Number)
      return { begun, last, sent }
    }
    form.addEventListener('submit', () => {
      const { begun, sent } = read()
      const goesOn = sent > 0 && now() < begun + (seconds || 900)
      store(name, goesOn ? `${begun} ${now()} ${sent + 1}` : `${now()} ${now()} 1`)
    })
    if (!wait) return

    const button = form.querySelector('button[type="submit"]')
    const text = button.textContent
    const show = () => {
      const { begun, last, sent } = read()
      const until = Math.max(sent > 0 ? last + 30 : 0, count > 0 && sent >= count ? begun + seconds : 0)
      const left = until - now()
      button.disabled = left > 0
      button.textContent = left > 0 ? wait.replace('{time}', clock(left)) : text
      if (left > 0) setTimeout(show, 1000)
    }
    show()
    addEventListener('pageshow', show)
  }

  /** `24 s`, `12:05`. */
  function clock(seconds) {
    if (seconds < 60) return new Intl.NumberFormat(language, { style: 'unit', unit: 'second' }).format(seconds)
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
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

  /** Buttons that copy, download or print what is shown once. */
  function addTools(place) {
    const { copies, copy, copied, download, file, print: printing } = place.dataset
    const source = document.getElementById(copies)
    const text = () => (all('li', source).length > 0 ? all('li', source) : [source]).map(lineOf).join('\n')
    if (navigator.clipboard) {
      const button = addTool(place, copy, async () => {
        await navigator.clipboard.writeText(text())
        button.textContent = copied
      })
      button.setAttribute('aria-live', 'polite')
    }
    if (download) {
      addTool(place, download, () => {
        const link = document.createElement('a')
        link.href = URL.createObjectURL(new Blob([`${text()}\n`], { type: 'text/plain' }))
        link.download = file
        link.click()
        URL.revokeObjectURL(link.href)
      })
    }
    if (printing) addTool(place, printing, () => print())
  }

  const lineOf = (element) => element.textContent.trim()

  function addTool(place, text, act) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'small secondary'
    button.textContent = text
    button.addEventListener('click', act)
    place.append(button)
    return button
  }

  /** Times as the reader counts them: relative, with the exact local time in the title. */
  function localTimes() {
    const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
    const exact = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' })
    const units = [
      ['year', 31_536_000],
      ['month', 2_592_000],
      ['week', 604_800],
      ['day', 86_400],
      ['hour', 3600],
      ['minute', 60],
      ['second', 1],
    ]
    for (const element of all('time[datetime]')) {
      const time = new Date(element.dateTime)
      const seconds = Math.round((time - Date.now()) / 1000)
      const [unit, size] = units.find(([, length]) => Math.abs(seconds) >= length) ?? units.at(-1)
      element.title = exact.format(time)
      element.textContent = relative.format(unit === 'second' ? 0 : Math.round(seconds / size), unit)
    }
  }

  /** Asks every few seconds, while the page is seen, whether there are other mails or events, and shows them. */
  function refreshList(place) {
    const listOf = (within) => within.querySelector('ul, tbody')?.innerHTML ?? ''
    let known = listOf(place)
    setInterval(
      async () => {
        if (document.hidden) return
        const answer = await fetch(location.href).catch(() => null)
        if (!answer?.ok) return
        const found = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('[data-refresh]')
        if (found === null || listOf(found) === known) return
        known = listOf(found)
        const chosen = place.classList.contains('chosen')
        const [old, fresh] = chosen ? [place.querySelector('ul'), found.querySelector('ul')] : [place, found]
        const focus = document.activeElement?.getAttribute('href')
        if (chosen) old.replaceWith(fresh)
        else place.replaceChildren(...found.childNodes)
        if (focus)
          all('a', place)
            .find((link) => link.getAttribute('href') === focus)
            ?.focus()
        localTimes()
      },
      1000 * (Number(place.dataset.refresh) || 3),
    )
  }

  /** A field that leaves only the routes with all of its words. */
  function addSearch(place) {
    const field = document.createElement('input')
    field.type = 'search'
    field.placeholder = place.dataset.search
    field.setAttribute('aria-label', place.dataset.search)
    const nothing = document.createElement('p')
    nothing.className = 'empty'
    nothing.setAttribute('role', 'status')
    nothing.hidden = true
    nothing.textContent = place.dataset.nothing
    place.append(field, nothing)
    field.addEventListener('input', () => {
      const words = field.value.toLowerCase().split(/\s+/)
      for (const entry of all('.operation')) {
        const text = entry.textContent.toLowerCase()
        entry.hidden = !words.every((word) => text.includes(word))
      }
      for (const group of all('.group')) group.hidden = all('.operation:not([hidden])', group).length === 0
      nothing.hidden = all('.group:not([hidden])').length > 0
    })
  }

  /** A link to a part that is folded opens it. */
  function unfoldTarget() {
    const target = location.hash && document.getElementById(location.hash.slice(1))
    if (target instanceof HTMLDetailsElement) target.open = true
  }

  /**
   * Marks the part that is read in the navigation at the side: what a link led to, until the reader scrolls; then the last
   * part that begins in the upper third of the window.
   */
  function followReader(nav) {
    const links = all('a[href^="#"]', nav)
    const parts = links.map((link) => document.getElementById(link.hash.slice(1)))
    let led = false
    const mark = (index) => {
      for (const link of links) link.removeAttribute('aria-current')
      links[index]?.setAttribute('aria-current', 'location')
    }
    const read = () => {
      if (led) return
      const begun = ({ hidden, offsetTop }) => !hidden && offsetTop <= scrollY + innerHeight / 3
      mark(Math.max(0, parts.findLastIndex(begun)))
    }
    const follow = () => {
      const target = document.getElementById(location.hash.slice(1))
      const index = parts.findIndex((part) => part.contains(target))
      led = target !== null && index >= 0
      if (led) mark(index)
      else read()
    }
    for (const name of ['wheel', 'touchmove', 'keydown']) addEventListener(name, () => (led = false), { passive: true })
    addEventListener('scroll', read, { passive: true })
    addEventListener('hashchange', follow)
    follow()
  }

  for (const place of all('[data-copies]')) addTools(place)
  for (const field of all('input[type="password"]')) addShowButton(field)
  for (const field of all('input[data-min-length]')) addMeter(field)
  for (const field of all('input.code')) stripBlanks(field)
  for (const field of all('input[data-segments]')) addSegments(field)
  for (const form of all('form:not([data-passkey])')) sendOnce(form)
  keepAddress()
  for (const form of all('form[data-mails]')) countMails(form)
  for (const place of all('[data-refresh]')) refreshList(place)
  for (const place of all('[data-search]')) addSearch(place)
  for (const nav of all('.nav')) followReader(nav)
  addEventListener('hashchange', unfoldTarget)
  unfoldTarget()
  localTimes()

  // The field that was refused has the focus and is described by its error; else the alert is read. Once loaded, since the
  // jump to a part of the page takes the focus away.
  addEventListener('load', () => {
    const refused = all('[aria-invalid="true"]').find((field) => field.offsetParent !== null)
    const isFree = document.activeElement === document.body
    const first = isFree ? document.querySelector('[autofocus]') : null
    const place = refused ?? document.querySelector('[role="alert"]') ?? first
    place?.focus()
  })

  for (const form of all('form[data-send-at-once]')) sendAtOnce(form)
})()
