import type { ServerResponse } from 'node:http'
import { hasMethods, memberOf } from '../../../lib/members.js'
import type { JudgedRequest, Next } from './judged.js'

/** Marks an application and its layers that are guarded. */
export const guarded: unique symbol = Symbol('latchkey.guarded')

export type ConnectHandler = (req: JudgedRequest, res: ServerResponse, next: Next) => unknown

/** The part of a connect-style application that we use. */
export interface ConnectApp {
  handle: (req: JudgedRequest, res: ServerResponse, next?: Next) => unknown
  use(...given: unknown[]): unknown
  stack: unknown[]
  [guarded]?: boolean
}

export interface ConnectLayer {
  /** The prefix that connect removes from the path for the layer. */
  route: string
  handle: ConnectHandler
  /** The handle that guards, or that needs no guard because it handles errors. */
  [guarded]?: unknown
}

export function isConnect(app: unknown): app is ConnectApp {
  if (typeof app !== 'function' || 'engine' in app || !Array.isArray(memberOf(app, 'stack'))) return false
  return hasMethods(app, ['use', 'handle', 'listen'])
}

export function isUnguarded(layer: unknown): layer is ConnectLayer {
  return hasMethods(layer, ['handle']) && 'route' in layer && memberOf(layer, guarded) !== memberOf(layer, 'handle')
}
