import { app } from 'codehooks-js'

function loop() {
  console.log('looping')
  for (;;);
}

export default app.init(() => void setTimeout(loop, 1_000))
