import { expect, test } from 'vitest'
import { acceptedEncoding } from '../../src/http/kept-document.js'

test.each([
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip;q=1.0, br;q=0.5', 'br'],
  ['GZIP', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['br;q=0.000 , gzip ; q=0', null],
  ['identity', null],
  ['*', null],
  ['', null],
  [undefined, null],
])('of %s is %s', (header, encoding) => {
  expect(acceptedEncoding(header)).toBe(encoding)
})
