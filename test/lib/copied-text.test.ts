import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTextCopier } from '../../src/lib/copied-text.js'

const copied = createTextCopier()

test('a copy reads like its text, whatever was copied before and after it', () => {
  const unit = fc.integer({ min: 0, max: 0xff }).map((code) => String.fromCharCode(code))
  const texts = fc.oneof(fc.string({ unit, maxLength: 60 }), fc.string({ unit, minLength: 4_090, maxLength: 4_110 }))
  fc.assert(
    fc.property(fc.array(texts, { maxLength: 5 }), (list) => {
      expect(list.map(copied)).toEqual(list)
    }),
  )
})
