// Draws the banner of an impersonation on any page of the application that includes it. Labels replace the two quoted texts.
;(() => {
  const base = document.currentScript.src.replace(/\/assets\/[^/]*$/, '')
  const call = (path, method = 'POST') => fetch(base + path, { method, credentials: 'include' })

  async function draw() {
    let answer = await call('/me', 'GET')
    if (answer.status === 401 && (await call('/refresh')).ok) answer = await call('/me', 'GET')
    if (!answer.ok) return
    const { user, session } = await answer.json()
    if (!session.actor) return
    const banner = document.createElement('div')
    banner.setAttribute('role', 'status')
    banner.style.cssText =
      'position:fixed;inset:auto 0 0;z-index:2147483647;padding:8px;background:#7a1f1f;color:#fff;font:16px/1.5 system-ui,sans-serif;text-align:center'
    const stop = document.createElement('button')
    stop.type = 'button'
    stop.textContent = '%stop%'
    stop.style.cssText = 'padding:4px 12px;font:inherit'
    stop.addEventListener('click', async () => {
      await call('/impersonation/stop')
      location.assign(`${base}/login`)
    })
    banner.append(
      '%acting%'.replace('{actingAs}', () => user.email),
      ' ',
      stop,
    )
    document.body.append(banner)
  }

  const start = () => draw().catch(() => {})
  if (document.body) start()
  else addEventListener('DOMContentLoaded', start)
})()
