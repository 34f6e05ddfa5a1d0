import { app } from 'codehooks-js'

export default app.init(() => new Promise(() => {}))
