import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse, readSources } from './support/house-source.js'
import { commentsOf, longSentences, meanWords, phraseFaults, sentencesOf, sourceFaults } from './support/language.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** The files below a folder whose names end like that. */
function below(folder: string, ending: RegExp): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((path) => ending.test(path))
    .sort()
}

// The templates again, in one file that the build makes.
const sources = readSources(root).filter(({ path }) => path !== 'src/templates/built-in.ts')
const guides = ['README.md', ...below('docs', /\.md$/)]
const papers = [...guides, 'SECURITY.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'src/README.md']
const templates = ['templates/labels/en.json', ...below('templates', /\.(hbs|js|css)$/)]

const longest = 40
const longestMean = 18

describe('phrases', () => {
  test('comments, errors and log messages are free of the banned phrases', () => {
    expect(sources.length).toBeGreaterThan(0)
    expect(sources.flatMap(sourceFaults)).toEqual([])
  })

  test('pages, mails and English labels are free of them', () => {
    expect(templates.flatMap((path) => phraseFaults(path, read(path)))).toEqual([])
  })

  test('README, docs and the other papers are free of them', () => {
    expect(papers.flatMap((path) => phraseFaults(path, read(path)))).toEqual([])
  })

  test.each([
    ['// Nobody reads it.', ['a.ts:1: nobody']],
    ['/**\n * A key that lets\n * in a stranger.\n */\nconst key = 1', ['a.ts:2: lets in']],
    ['call()\n// One\n// is told\n// of it.', ['a.ts:3: told of']],
    ['function f() {\n  // Whoever\n}', ['a.ts:2: whoever']],
    ["throw new Error('It is worth nothing.')", ['a.ts:1: worth nothing']],
    [`log(\`\${a} hands on \${b} to somebody\`)`, ['a.ts:1: hands on', 'a.ts:1: somebody']],
    ['const nobody = /\\/\\/ nobody/', []],
    ['// A busybody outlets inside.', []],
  ])('in «%s» the faults are %j', (text, faults) => {
    expect(sourceFaults(parse('a.ts', text))).toEqual(faults)
  })

  test('a comment mark in a string begins no comment', () => {
    const source = parse('a.ts', "const url = 'https://a' // one\nconst b = [\n  1, // two\n  // three\n]\n/* four */")
    const comments = commentsOf(source).map(({ line, text }) => `${line}: ${text}`)
    expect(comments).toEqual(['1: // one', '3: // two\n  // three', '6: /* four */'])
  })
})

describe('sentences', () => {
  const pages = guides.map((path) => ({ path, sentences: sentencesOf(read(path)) }))

  test(`no sentence of README and docs is longer than ${longest} words`, () => {
    expect(pages.flatMap(({ path, sentences }) => longSentences(path, sentences, longest))).toEqual([])
  })

  test(`their mean is at most ${longestMean} words`, () => {
    expect(meanWords(pages.flatMap(({ sentences }) => sentences))).toBeLessThanOrEqual(longestMean)
  })

  test.each([
    ['One two. Three!', [2, 1]],
    ['One\ntwo three.\n\nFour', [3, 1]],
    ['# Heading\n\nOne two.', [2]],
    ['Call `init({ a: 1, b: 2 })` first.', [3]],
    ['See [the long page](docs/page.md), then [another](b.md).', [4]],
    ['See <https://example.com/a.b?c> for more. It helps.', [4, 2]],
    ['**Bold words.** And more.', [2, 2]],
    ['- one two\n- three\n  four\n- five. Six seven.', [2, 2, 1, 2]],
    ['Steps:\n\n1. one\n2. [ ] two three', [1, 1, 2]],
    ['One:\n```ts\nconst a = 1. + 2.\n```\ntwo three.', [1, 2]],
    ['| a | b |\n|---|---|\n| One two. | three |\n\nFour.', [1]],
    ['Set a port, e.g. 3000, and stop.', [7]],
    ['Version 0.1.0 of latchkey.js works.', [5]],
    ['It ends (as it began). "Quoted." Then — more.', [5, 1, 2]],
    ['<img src="a">\n<!-- one\ntwo -->\nThree four.', [2]],
    ['> Quoted words\n> go on.', [4]],
  ])('«%s» has sentences of %j words', (markdown, words) => {
    expect(sentencesOf(markdown).map((sentence) => sentence.words)).toEqual(words)
  })

  test('a long sentence is reported with its file, line and length', () => {
    expect(longSentences('a.md', sentencesOf('Short.\n\nOne two three four. Five.'), 3)).toEqual([
      'a.md:3: 4 words: One two three four.',
    ])
  })
})
