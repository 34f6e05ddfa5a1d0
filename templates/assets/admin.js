// What admin pages do better with a script than without; everything works without. Texts come from the page (labels).
;(() => {
  const { filter, noMatch, cancel } = document.body.dataset
  const all = (selector, within = document) => [...within.querySelectorAll(selector)]

  /** A field over a table that leaves only the rows with all of its words. */
  function addFilter(table) {
    const rows = all('tbody tr', table)
    if (rows.length < 6) return
    const place = document.createElement('div')
    place.className = 'rowfilter'
    const field = document.createElement('input')
    field.type = 'search'
    field.placeholder = filter
    field.setAttribute('aria-label', filter)
    const nothing = document.createElement('p')
    nothing.className = 'none'
    nothing.setAttribute('role', 'status')
    place.append(field)
    table.parentElement.before(place)
    table.parentElement.after(nothing)
    nothing.hidden = true
    field.addEventListener('input', () => {
      const words = field.value.toLowerCase().split(/\s+/)
      for (const row of rows) {
        const text = row.textContent.toLowerCase()
        row.hidden = !words.every((word) => text.includes(word))
      }
      nothing.hidden = rows.some((row) => !row.hidden)
      nothing.textContent = nothing.hidden ? '' : noMatch
    })
  }

  /** Asks in a dialog what the page asks in place. The form goes into the dialog and back. */
  function askInDialog(details) {
    const summary = details.querySelector('summary')
    const content = details.querySelector('form, .again')
    summary.addEventListener('click', (event) => {
      event.preventDefault()
      const dialog = document.createElement('dialog')
      const heading = document.createElement('h2')
      heading.id = 'dialog-title'
      heading.textContent = summary.textContent.replace('…', '').trim()
      dialog.setAttribute('aria-labelledby', heading.id)
      const button = document.createElement('button')
      button.type = 'button'
      button.className = 'small secondary cancel'
      button.textContent = cancel
      button.addEventListener('click', () => dialog.close())
      content.append(button)
      dialog.append(heading, content)
      dialog.addEventListener('close', () => {
        button.remove()
        details.append(content)
        dialog.remove()
        summary.focus()
      })
      document.body.append(dialog)
      dialog.showModal()
    })
  }

  /** New lines of a log as they are printed. The first answer repeats those on the page. */
  async function followLog(log) {
    const status = document.querySelector('[data-live]')
    const atEnd = () => log.scrollHeight - log.scrollTop - log.clientHeight < 40
    let lines = null
    let rest = ''
    const show = (text) => {
      const rows = `${rest}${text}`.split('\n')
      rest = rows.pop()
      // An empty line only keeps the connection open.
      const added = rows
        .filter((row) => row !== '')
        .map((row) => JSON.parse(row))
        .filter(({ at }) => at)
      if (added.length === 0) return
      const follows = atEnd()
      lines = [...(lines ?? []), ...added.map((row) => `${row.at} ${row.level} ${row.text}\n`)].slice(-500)
      log.textContent = lines.join('')
      if (log.nextElementSibling) log.nextElementSibling.hidden = true
      if (follows) log.scrollTop = log.scrollHeight
    }
    log.scrollTop = log.scrollHeight
    try {
      const answer = await fetch(log.dataset.follow)
      if (!answer.ok) return
      status.textContent = status.dataset.live
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
      for (let part = await reader.read(); !part.done; part = await reader.read()) show(part.value)
    } catch {
      // The connection is gone, as when the stream ends.
    }
    status.textContent = status.dataset.ended
  }

  // On a phone the navigation is a row that scrolls.
  for (const link of all(':is(.nav, .inside) [aria-current]'))
    link.scrollIntoView({ block: 'nearest', inline: 'center' })
  for (const table of all('table[data-filters]')) addFilter(table)
  for (const details of all('details.confirm')) askInDialog(details)
  for (const log of all('[data-follow]')) void followLog(log)
})()
