// The page around the samples: what there is, in which language, and the switches of the one that is shown.

const languages = ['en', 'de', 'es', 'fr', 'no', 'ja']

const styles = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 0; display: grid; grid-template-columns: 230px minmax(0, 1fr); min-height: 100vh; }
nav { padding: 16px; border-right: 1px solid #8884; }
nav h2 { margin: 16px 0 4px; font-size: 13px; opacity: .7; }
nav ul { margin: 0; padding: 0; list-style: none; }
nav a { display: block; padding: 2px 8px; border-radius: 6px; color: inherit; text-decoration: none; }
nav a:hover, a[aria-current] { background: #8883; }
main { padding: 16px 24px; }
h1 { margin: 0 0 4px; font-size: 20px; }
.switches { display: flex; flex-wrap: wrap; gap: 4px 8px; margin: 8px 0; font-size: 14px; }
.switches a { padding: 1px 8px; border: 1px solid #8886; border-radius: 6px; color: inherit; text-decoration: none; }
.frames { display: flex; flex-wrap: wrap; gap: 16px; align-items: flex-start; }
figure { margin: 8px 0; }
figcaption { font-size: 13px; opacity: .7; }
iframe { height: 720px; max-width: 100%; border: 1px solid #8886; border-radius: 8px; background: Canvas; }
pre { margin: 0; padding: 12px; width: 460px; max-width: 100%; border: 1px solid #8886; border-radius: 8px; white-space: pre-wrap; overflow-wrap: anywhere; box-sizing: border-box; }
@media (max-width: 700px) { body { display: block; } nav { border: 0; } }
`

const schemes = ['light', 'dark']
const frames = [
  { caption: 'On a desk', width: 680 },
  { caption: 'On a phone', width: 360 },
]

/** HTML of the page. `mail` is the rendered mail, null for a page; `query` what the address says. */
export function previewPage({ names, shown, sample, mail, query, locale, missing }) {
  const link = (change) => `?${new URLSearchParams({ ...Object.fromEntries(query), ...change })}`
  const list = (kind) =>
    names
      .filter((name) => name.startsWith(kind))
      .map((name) => {
        const current = name === shown ? ' aria-current="page"' : ''
        const address = `?${new URLSearchParams({ show: name, locale, scheme: query.get('scheme') ?? 'light' })}`
        return `<li><a href="${escaped(address)}"${current}>${escaped(name.slice(kind.length))}</a></li>`
      })
      .join('')
  const scheme = query.get('scheme') ?? 'light'
  const address = `/${shown}?${new URLSearchParams({ ...Object.fromEntries(query), locale, scheme })}`

  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(shown)} · Preview</title>
<style>${styles}</style>
</head>
<body>
<nav>
<h2>Mails</h2><ul>${list('mail/')}</ul>
<h2>Pages</h2><ul>${list('pages/')}</ul>
<h2>Admin pages</h2><ul>${list('admin/')}</ul>
</nav>
<main>
<h1>${escaped(mail?.subject ?? shown)}</h1>
<p class="switches">${languages.map((tag) => choice(tag, link({ locale: tag }), tag === locale)).join('')}</p>
<p class="switches">${schemes.map((name) => choice(name, link({ scheme: name }), name === scheme)).join('')}</p>
<p class="switches">${switchesOf(sample, query, link)}</p>
${missing.length > 0 ? `<details><summary>${missing.length} texts show in English</summary><p>${escaped(missing.join(' '))}</p></details>` : ''}
<div class="frames">
${frames.map((frame) => frameOf(frame, address, mail === null)).join('\n')}
${mail ? `<figure><figcaption>Text part</figcaption><pre>${escaped(mail.text)}</pre></figure>` : ''}
</div>
</main>
</body>
</html>
`
}

/** What the sample can be without: whatever is on or off, and the error. */
function switchesOf(sample, query, link) {
  return Object.entries(sample)
    .filter(([key, value]) => typeof value === 'boolean' || value === 'yes' || key === 'error' || key === 'token')
    .map(([key]) => {
      const off = query.get(key) === ''
      return choice(`${off ? 'other' : 'as sampled'}: ${key}`, link({ [key]: off ? 'on' : '' }), off)
    })
    .join('')
}

function choice(text, address, current) {
  return `<a href="${escaped(address)}"${current ? ' aria-current="true"' : ''}>${escaped(text)}</a>`
}

/** Pages may run their script there, as a stranger to this one; mails run nothing anywhere. */
function frameOf({ caption, width }, address, isPage) {
  const sandbox = isPage ? 'allow-scripts' : ''
  return `<figure><figcaption>${caption}</figcaption>
<iframe width="${width}" src="${escaped(address)}" sandbox="${sandbox}" loading="lazy" title="${caption}"></iframe></figure>`
}

function escaped(text) {
  return String(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
