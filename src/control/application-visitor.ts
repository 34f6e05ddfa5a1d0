import { type Visitor, visitorWithoutRequest } from '../model/visitor.js'

/** The application's own code: the actor of every server-side call, also of one inside a hook. */
export const applicationVisitor: Visitor = visitorWithoutRequest({ kind: 'application' })
