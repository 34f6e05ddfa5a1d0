// No test speaks to the outside: what is not on this machine is refused as if there were no network. Loaded before every
// test file, and by `node --import` into programs that run as their users run them.
const { fetch } = globalThis

/** @type {typeof fetch} */
async function fetchHere(input, init) {
  const { hostname } = new URL(input instanceof Request ? input.url : input)
  if (/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)) return fetch(input, init)
  throw new TypeError(`No network in a test: ${hostname} was asked for`)
}

// Test files that share a process load this once each.
if (fetch.name !== fetchHere.name) Object.assign(globalThis, { fetch: fetchHere })
