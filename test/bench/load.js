// Client process of the guard benchmark: asks one URL as fast as 32 connections can, on demand.
import autocannon from 'autocannon'

process.on('message', async ({ url, headers, seconds }) => {
  const result = await autocannon({ url, headers, connections: 32, duration: seconds })
  if (result.non2xx || result.errors) throw new Error(`${url}: ${result.non2xx} refused, ${result.errors} errors`)
  process.send({ requests: result['2xx'], perSecond: result['2xx'] / result.duration, p99: result.latency.p99 })
})
process.on('disconnect', () => process.exit())
process.send('ready')
