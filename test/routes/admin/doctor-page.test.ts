import { expect, onTestFinished, test } from 'vitest'
import { createTestRuntime } from '../../../src/testing.js'
import { administered } from '../../support/administrators.js'
import { startRangeServer } from '../../support/range-server.js'

const eyes = { headers: { 'sec-fetch-mode': 'navigate', accept: 'text/html' } }
const tileOf = (page: string) => /<a class="tile" href="\/auth\/admin\/doctor">(.*?)<\/a>/.exec(page)?.[1]

test('the doctor page shows each finding with cause and cure, and why a check was skipped', async () => {
  const { admin } = await administered({ jwks: { url: 'http://127.0.0.1:9/keys' } })
  const { text } = await admin.get('/auth/admin/doctor', eyes)
  const [errors, warnings] = [text.indexOf('jwks_unreachable'), text.indexOf('jwks_audience')]
  expect(errors).toBeGreaterThan(0)
  expect(warnings).toBeGreaterThan(errors)
  expect(text).toContain('The key set of the other issuer cannot be fetched, so its tokens are refused.')
  expect(text).toMatch(/Set\s+<code>jwks\.audience<\/code>\s+to the audience of your API\./)
  expect(text).toMatch(/<code>redis_unreachable<\/code><span>The setting redis is not given\./)
  expect(text).toContain('at most once a minute')
})

test('ATK-213 the doctor page asks other hosts once a minute, and shows when', async () => {
  const range = await startRangeServer()
  onTestFinished(() => range.close())
  const runtime = createTestRuntime({ fetch: globalThis.fetch })
  const { admin } = await administered({ password: { checkBreached: range.url } }, runtime)
  const asked = () => range.asked.filter(({ path }) => path === '/range/00000').length
  const ranAt = async () =>
    /Last run: <time datetime="([^"]+)"/.exec((await admin.get('/auth/admin/doctor', eyes)).text)?.[1]

  const first = await ranAt()
  expect([await ranAt(), asked()]).toEqual([first, 1])
  await runtime.clock.advance('61s')
  expect([(await ranAt()) === first, asked()]).toEqual([false, 2])
})

test('the overview counts the findings of the last run, and starts none', async () => {
  const { admin } = await administered({ jwks: { url: 'http://127.0.0.1:9/keys', audience: 'api' } })
  const overview = async () => tileOf((await admin.get('/auth/admin', eyes)).text)
  expect(await overview()).toBe('<b>–</b><span>Run the checks</span>')
  expect(await overview()).toBe('<b>–</b><span>Run the checks</span>')
  const { body } = await admin.get<{ checks: { ok: boolean }[] }>('/auth/admin/api/doctor')
  const found = body.checks.filter(({ ok }) => !ok).length
  expect(found).toBeGreaterThan(0)
  expect(await overview()).toBe(`<b><span class="badge warn">${found}</span></b><span>findings of doctor</span>`)
})

test('the overview does not wait for a run that is under way', async () => {
  const range = await startRangeServer()
  onTestFinished(() => range.close())
  const { admin } = await administered(
    { password: { checkBreached: range.url } },
    createTestRuntime({ fetch: globalThis.fetch }),
  )
  const held = new Promise<() => void>((resolve) => {
    range.answer = (response) => resolve(() => response.end())
  })
  const report = admin.get('/auth/admin/doctor', eyes)
  const release = await held
  expect(tileOf((await admin.get('/auth/admin', eyes)).text)).toContain('Run the checks')
  release()
  expect((await report).status).toBe(200)
})
