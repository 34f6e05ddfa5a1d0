import fc from 'fast-check'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { maskCode } from '../../../src/cli/init/code/masked-code.js'
import { parseJsonWithComments } from '../../../src/cli/init/json-with-comments.js'
import { readSources } from '../../support/house-source.js'

test.each([
  ["a = 'it\\'s' // b", "a = '     '     "],
  ['a /* { \n } */ b', 'a      \n      b'],
  ['a = /[/"]\\/{/.test(b)', 'a =          .test(b)'],
  ['a / b / c', 'a / b / c'],
  ['return /a"/', 'return     '],
  [`\`a \${\`{\${b}\`} c\` + d`, `\`              \` + d`],
  ["f('unclosed\ng()", "f('unclosed\ng()"],
])('code is what is left of %j', (text, masked) => {
  expect(maskCode(text)).toBe(masked)
})

test('a masked program is as long as the program, with the same lines, for any text', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...'ab\'"`/*\\\n\r{$}()[];= ', '$' + '{'), { maxLength: 60 }),
      (characters) => {
        const text = characters.join('')
        const masked = maskCode(text)
        expect(masked).toHaveLength(text.length)
        expect(masked.replace(/[^\n]/g, '')).toBe(text.replace(/[^\n]/g, ''))
      },
    ),
    { numRuns: 2000 },
  )
})

test('the sources of this package keep exactly the identifiers that TypeScript finds', () => {
  const sources = readSources(new URL('../../..', import.meta.url).pathname).filter(({ text }) => !text.includes('`'))
  expect(sources.length).toBeGreaterThan(100)
  for (const { path, text, tree } of sources) {
    const names: string[] = []
    const visit = (node: ts.Node) => {
      if (ts.isIdentifier(node)) names.push(node.text)
      ts.forEachChild(node, visit)
    }
    visit(tree)
    const left = new Set(maskCode(text).match(/[\w$]+/g))
    expect(
      names.filter((name) => !left.has(name)),
      path,
    ).toEqual([])
  }
})

test.each([
  ['{ "a": "// no comment", /* one */ "b": [1, 2,], }', { a: '// no comment', b: [1, 2] }],
  ['\uFEFF{ "a": "\\"," } // end', { a: '",' }],
  ['[1]', null],
  ['{', null],
])('%j is read as tsconfig.json is', (text, value) => {
  expect(parseJsonWithComments(text)).toEqual(value)
})
