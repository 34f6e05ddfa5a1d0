import { expect, test } from 'vitest'
import { applicationVisitor } from '../../src/control/application-visitor.js'
import { systemVisitor } from '../../src/model/visitor.js'

test.each([
  ['application', applicationVisitor],
  ['system', systemVisitor],
])('the visitor of the %s serves every call, and no call can change it', (kind, visitor) => {
  expect(visitor).toEqual({ ip: null, userAgent: null, actor: { kind } })
  expect([Object.isFrozen(visitor), Object.isFrozen(visitor.actor)]).toEqual([true, true])
})
