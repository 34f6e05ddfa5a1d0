import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Page } from 'playwright-core'

/** The client as a bundler delivers it. */
export async function clientModule(): Promise<string> {
  const entry = fileURLToPath(new URL('../../src/client.ts', import.meta.url))
  const bundle = await build({ entryPoints: [entry], bundle: true, format: 'esm', minify: true, write: false })
  return bundle.outputFiles[0]?.text ?? ''
}

/** A page that has nothing but the client, as `auth`; `?nolocks` takes Web Locks away before it starts. */
export const clientPage = `<!doctype html><meta charset="utf-8"><title>Client</title><link rel="icon" href="data:,">
<script>if (location.search === '?nolocks') Object.defineProperty(navigator, 'locks', { value: undefined })</script>
<script type="module">
  import { createAuthClient } from '/client.js'
  globalThis.ended = 0
  globalThis.auth = createAuthClient({ onSignedOut: () => { globalThis.ended += 1 } })
</script>`

/** Runs an expression in the page, as the page's own script would. */
export function run<T>(page: Page, expression: string): Promise<T> {
  return page.evaluate(expression)
}
