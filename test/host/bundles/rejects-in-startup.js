import { app } from 'codehooks-js'

export default app.init(async () => {
  throw new Error('no index could be made')
})
