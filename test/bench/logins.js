// Client process: 16 people who sign in over and over.
process.on('message', async ({ url, origin, accounts, seconds }) => {
  const end = performance.now() + seconds * 1000
  const counts = await Promise.all(accounts.map((account) => signInUntil(end, url, origin, account)))
  process.send({ perSecond: counts.reduce((sum, count) => sum + count, 0) / seconds })
})
process.on('disconnect', () => process.exit())
process.send('ready')

async function signInUntil(end, url, origin, account) {
  let count = 0
  while (performance.now() < end) {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin },
      body: JSON.stringify(account),
    })
    if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
    await response.arrayBuffer()
    count += 1
  }
  return count
}
