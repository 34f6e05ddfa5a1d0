import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { samples } from '../../src/templates/samples.js'
import { temporaryFolder } from '../support/auth.js'
import { startProgram } from '../support/program.js'
import { rawRequest } from '../support/raw-http.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

async function preview(...flags: string[]): Promise<string> {
  const program = startProgram('node', ['templates/preview.js', ...flags], { cwd: root })
  onTestFinished(() => program.stop())
  const [, address = ''] = await program.printed(/(http:\/\/localhost:\d+)\//)
  return address
}

const read = (address: string) =>
  fetch(address).then(async (answer) => ({ status: answer.status, text: await answer.text() }))

test('the preview shows every page and mail, its text part, and the stylesheet of pages', async () => {
  const address = await preview('--name', 'Notes', '--accent', '#7a2e8e')
  for (const name of Object.keys(samples)) {
    const around = await read(`${address}/?show=${name}`)
    expect([around.status, around.text.includes(`src="/${name}?`)], name).toEqual([200, true])
    const inside = await read(`${address}/${name}?locale=de&scheme=dark`)
    expect([inside.status, inside.text.includes('Notes')], name).toEqual([200, true])
    expect(inside.text).toContain('<html lang="de"')
    expect(inside.text).not.toContain('prefers-color-scheme')
  }
  const page = await read(`${address}/pages/error?scheme=dark`)
  const css = await read(address + /"(\/auth\/assets\/latchkey\.[^"]+)"/.exec(page.text)?.[1])
  expect(css.text).toContain('#7a2e8e')
  expect((await read(`${address}/?show=mail/verify`)).text).toContain('Hello,')
  for (const path of ['/?show=mail/nothing', '/mail/constructor', '/../package.json', '/auth/assets/x.css']) {
    expect((await read(address + path)).status, path).toBe(404)
  }
})

test('the preview shows a changed file with the next look, and a mistake with its line', async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'mail/otp/body.html.hbs')
  mkdirSync(join(folder, 'mail/otp'), { recursive: true })
  writeFileSync(file, 'Only {{code}}')
  const address = await preview('--templates', folder)
  expect((await read(`${address}/mail/otp`)).text).toBe('Only 123456')
  writeFileSync(file, '\n{{cdoe}}')
  const broken = await read(`${address}/mail/otp`)
  expect([broken.status, broken.text]).toEqual([
    500,
    'This cannot be shown:\n\nmail/otp/body.html.hbs:2: there is no value cdoe here\n',
  ])
})

test('the preview answers nobody who comes by another name than this machine’s', async () => {
  const address = await preview()
  const { status } = await rawRequest(
    Number(new URL(address).port),
    'GET / HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n',
  )
  expect(status).toBe(404)
})

test('the preview tells its options when it is asked, and when it does not know one', () => {
  const ran = (flag: string) =>
    spawnSync(process.execPath, ['templates/preview.js', flag], { cwd: root, encoding: 'utf8' })
  const asked = ran('--help')
  expect([asked.status, asked.stderr]).toEqual([0, ''])
  const unknown = ran('--colour')
  expect([unknown.status, unknown.stdout]).toEqual([2, ''])
  expect(unknown.stderr).toContain("Unknown option '--colour'")
  for (const told of [asked.stdout, unknown.stderr]) expect(told).toContain('--accent <colour>')
  expect(unknown.stderr).not.toContain('at parseArgs')
})
