// Client process: asks one URL by 32 connections, so many times a second.
import autocannon from 'autocannon'

process.on('message', async ({ url, headers, seconds, rate }) => {
  const result = await autocannon({ url, headers, connections: 32, duration: seconds, overallRate: rate })
  if (result.non2xx || result.errors) throw new Error(`${url}: ${result.non2xx} refused, ${result.errors} errors`)
  process.send({ perSecond: result['2xx'] / result.duration })
})
process.on('disconnect', () => process.exit())
process.send('ready')
