import { app } from 'codehooks-js'

Promise.reject(new Error('a forgotten promise at import'))
await new Promise((resolve) => setTimeout(resolve, 60_000))

export default app.init()
