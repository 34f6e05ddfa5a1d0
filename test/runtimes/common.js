// What the programs in this folder share. They run on Bun and Deno over the built package.
// @ts-nocheck It stands on the built package and on globals of Bun and Deno.

const { PORT, DATABASE, JWT_ACCESS_TOKEN_SECRET, JWT_REFRESH_TOKEN_SECRET } = process.env

export const port = Number(PORT)

export const settings = {
  JWT_ACCESS_TOKEN_SECRET,
  JWT_REFRESH_TOKEN_SECRET,
  baseUrl: `http://localhost:${port}`,
  database: DATABASE,
  password: { checkBreached: false },
}

/** Listens with the server that the runtime brings. */
export function serve(handle) {
  if (globalThis.Bun) Bun.serve({ port, fetch: handle })
  else Deno.serve({ port }, handle)
}

/** Where a request comes from, by the second argument of a handler of Bun.serve or Deno.serve. */
export function addressOf(request, info) {
  return globalThis.Bun ? info.requestIP(request)?.address : info.remoteAddr.hostname
}

/** Closes on SIGTERM, as a deployment does it. */
export function closeOnSignal(auth) {
  const name = globalThis.Bun ? 'Bun' : 'Deno'
  console.log(`running on ${name} ${process.versions[name.toLowerCase()]}`)
  process.once('SIGTERM', async () => {
    await auth.close()
    console.log('closed')
    process.exit(0)
  })
}
