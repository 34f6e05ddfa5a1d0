import { PassThrough } from 'node:stream'
import { inspect } from 'node:util'
import { describe, expect, test, vi } from 'vitest'
import { createBlanker } from '../../../src/host/children/blank-secrets.js'
import { createLog, defaultLogLimits, type LogLimits, type OpenLog } from '../../../src/host/children/logs.js'
import { createTestClock, type TestClock } from '../../../src/testing/clock.js'

const secret = 'pä$$ "word"/+ & more\\'
const nothing = createBlanker([])

interface Opened {
  log: OpenLog
  clock: TestClock
  stdout: PassThrough
  stderr: PassThrough
  texts(): string[]
}

function open(limits: Partial<LogLimits> = {}, secrets: readonly string[] = []): Opened {
  const clock = createTestClock('2026-03-01T12:00:00Z')
  const log = createLog(clock, { ...defaultLogLimits, ...limits })
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  log.read(stdout, 'info', createBlanker(secrets))
  log.read(stderr, 'error', createBlanker(secrets))
  return { log, clock, stdout, stderr, texts: () => log.last(100_000).map(({ text }) => text) }
}

const blankLine = (line: string, secrets: readonly string[]) => createBlanker(secrets).blank(line, 10_000)

describe('ATK-166 a value of the environment is blanked', () => {
  test.each([
    ['as it is', secret],
    ['JSON-escaped', JSON.stringify({ secret })],
    ['JSON-escaped in ASCII', JSON.stringify({ secret }).replace('ä', '\\u00e4')],
    ['as Node prints it', inspect({ secret })],
    ['URL-encoded', encodeURIComponent(secret)],
    ['URL-encoded in lower case', encodeURIComponent(secret).replace(/%../g, (each) => each.toLowerCase())],
    ['as a form', new URLSearchParams({ secret }).toString()],
    ['in base64', Buffer.from(secret).toString('base64')],
    ['in base64url', Buffer.from(secret).toString('base64url')],
    ...[1, 2, 3].map((before) => [
      `in base64 behind ${before} bytes of another text`,
      Buffer.from(`${'x'.repeat(before)}${secret} and more`).toString('base64'),
    ]),
  ])('%s', (_how, written) => {
    const line = blankLine(`before ${written} after`, [secret])
    expect(line).toMatch(/^before .*\*\*\*.* after$/)
    for (const part of ['word', 'more', encodeURIComponent('"word"'), Buffer.from('"word"').toString('base64')]) {
      expect(line).not.toContain(part)
    }
  })

  test('a short value stands, and one of 8 characters does not', () => {
    expect(blankLine('1234567 12345678', ['1234567', '12345678'])).toBe('1234567 ***')
  })

  test('a value of several lines is blanked line by line', () => {
    const key = '-----BEGIN-----\nfirst line of it\r\nsecond line\n'
    expect(blankLine('  second line', [key])).toBe('  ***')
    expect(blankLine(JSON.stringify({ key }), [key])).toBe('{"key":"***"}')
  })

  test('values that overlap, touch and repeat leave nothing', () => {
    expect(blankLine('abcdefghijkl', ['abcdefgh', 'efghijkl'])).toBe('***')
    expect(blankLine('aaaaaaaaaaaaaaaaaa', ['aaaaaaaa'])).toBe('***')
    expect(blankLine('abcdefgh-abcdefgh', ['abcdefgh'])).toBe('***-***')
  })

  test('in a random text, wherever it stands', () => {
    const secrets = ['correct horse', 'battery staple', 'aabbaabbaabb']
    for (let at = 0; at < 200; at += 1) {
      const line = `${'ab '.repeat(at).slice(0, at)}${secrets[at % 3]}${'ba'.repeat(at % 7)}`
      const text = blankLine(line, secrets)
      for (const each of secrets) expect(text).not.toContain(each)
    }
  })

  test('ATK-161 and a line that is made to be compared for long goes as a whole', () => {
    const secrets = Array.from({ length: 100 }, (_, more) => `${'a'.repeat(3_000 + more)}b`)
    expect(blankLine('a'.repeat(16_384), secrets)).toMatch(/^\*\*\* \(Latchkey: /)
    expect(blankLine(`x ${'a'.repeat(3_050)}b y`, secrets)).toMatch(/^(x \*\*\* y|\*\*\* \(Latchkey: .*)$/)
  })

  test('divided over chunks of the output', async () => {
    const { stdout, texts } = open({}, [secret])
    for (const byte of Buffer.from(`one ${secret} two\nthree\n`)) stdout.write(Buffer.of(byte))
    await vi.waitFor(() => expect(texts()).toEqual(['one *** two', 'three']))
  })

  test('where the longest line that is kept ends in the middle of it', async () => {
    const { stdout, texts } = open({ lineBytes: 20 }, ['0123456789abcdef'])
    stdout.write(`${'x'.repeat(12)}0123456789abcdef and so on\n`)
    await vi.waitFor(() => expect(texts()).toEqual([expect.stringMatching(/^x{12}\*\*\*/)]))
    expect(texts().join()).not.toMatch(/[0-7]{2}|abc/)
  })
})

describe('ATK-166 credentials are blanked', () => {
  test.each([
    ['GET /dev/x?apikey=abc-123&q=1', 'GET /dev/x?apikey=***&q=1'],
    ['x-apikey: abc-123', 'x-apikey: ***'],
    [`{ 'x-apikey': 'abc-123', a: 1 }`, `{ 'x-apikey': '***', a: 1 }`],
    [`['x-api-key', 'abc-123', 'a']`, `['x-api-key', '***', 'a']`],
    [String.raw`"{\"apikey\":\"abc-123\"}"`, String.raw`"{\"apikey\":\"***\"}"`],
    ['Authorization: Bearer abc.def.ghi', 'Authorization: Bearer ***'],
    [`{ authorization: 'bearer abc.def' }`, `{ authorization: 'bearer ***' }`],
  ])('%s', (line, expected) => {
    expect(nothing.blank(line, 1_000)).toBe(expected)
  })

  test('and what a hostile line of 16 KiB becomes is bounded', () => {
    for (const part of ['apikey', 'apikey\\\\"', 'bearer ', 'apikey = ', '\\', ' ']) {
      expect(nothing.blank(part.repeat(16_384 / part.length), 16_384).length).toBeLessThanOrEqual(32_768)
    }
  })
})

describe('the log of a space', () => {
  test('keeps lines with time and level, and finds them by both', async () => {
    const { log, clock, stdout, stderr } = open()
    stdout.write('one\n')
    await vi.waitFor(() => expect(log.last(10)).toHaveLength(1))
    await clock.advance('1s')
    stderr.write('two\r\n')
    await vi.waitFor(() => expect(log.last(10)).toHaveLength(2))
    stdout.end('no line end')
    await vi.waitFor(() => expect(log.last(10)).toHaveLength(3))
    const noon = Date.parse('2026-03-01T12:00:00Z')
    expect(log.last(10)).toEqual([
      { at: noon, level: 'info', text: 'one' },
      { at: noon + 1_000, level: 'error', text: 'two' },
      { at: noon + 1_000, level: 'info', text: 'no line end' },
    ])
    expect(log.last(1)).toMatchObject([{ text: 'no line end' }])
    expect(log.last(0)).toEqual([])
    expect(log.last(10, { level: 'error' })).toMatchObject([{ text: 'two' }])
    expect(log.last(10, { since: noon + 1 })).toHaveLength(2)
  })

  test('calls followers until they stop', async () => {
    const { log, stdout } = open()
    const seen: string[] = []
    const stop = log.follow(({ text }) => seen.push(text))
    stdout.write('one\ntwo\n')
    await vi.waitFor(() => expect(seen).toEqual(['one', 'two']))
    stop()
    log.note('info', 'three')
    expect(seen).toHaveLength(2)
  })

  test('ATK-161 forgets the oldest lines beyond its size', async () => {
    const { log, stdout, texts } = open({ bytes: 10_000 })
    for (let line = 0; line < 500; line += 1) stdout.write(`line ${line}\n`)
    await vi.waitFor(() => expect(texts().at(-1)).toBe('line 499'))
    expect(log.last(1_000).length).toBeLessThan(100)
  })

  test('ATK-161 cuts a line of 5 MB, and counts what is missing', async () => {
    const { stdout, texts } = open({ bytesPerSecond: 64 * 1024 * 1024 })
    const megabyte = Buffer.alloc(1_000_000, 'y')
    for (let part = 0; part < 5; part += 1) stdout.write(megabyte)
    stdout.write('\nnext\n')
    await vi.waitFor(() => expect(texts()).toHaveLength(2))
    expect(texts()[0]).toBe(`${'y'.repeat(16_384)} … (${5_000_000 - 16_384} more)`)
  })

  test('ATK-161 drops lines beyond 1,000 a second, and says how many', async () => {
    const { clock, stdout, texts } = open()
    stdout.write(Array.from({ length: 1_500 }, (_, line) => `line ${line}\n`).join(''))
    await vi.waitFor(() => expect(texts()).toHaveLength(1_000))
    await clock.advance('1s')
    expect(texts().at(-1)).toBe('Latchkey: 500 lines were dropped. A space may log 1000 lines a second.')
    stdout.write('again\n')
    await vi.waitFor(() => expect(texts().at(-1)).toBe('again'))
    expect(texts()).toHaveLength(1_002)
  })

  test('ATK-161 reads a bounded part of a flood in each second', async () => {
    const { clock, stdout, texts } = open({ bytesPerSecond: 100_000 })
    for (let line = 0; line < 20; line += 1) stdout.write(`${'x'.repeat(15_000)}\n`)
    await vi.waitFor(() => expect(stdout.isPaused()).toBe(true))
    const first = texts().length
    expect(first).toBeLessThan(20)
    for (let second = 0; second < 5; second += 1) await clock.advance('1s')
    await vi.waitFor(() => expect(texts()).toHaveLength(20))
  })
})
