import type { Visitor } from '../model/visitor.js'

/** The application's own code: the actor of every server-side call, also of one inside a hook. */
export const applicationVisitor: Visitor = { ip: null, userAgent: null, actor: { kind: 'application' } }
