import { memberOf } from '../../../lib/members.js'

const guarded = Symbol('latchkey.guarded')

/** The prototype that has the method. Instances may have replaced it. */
export function ownerOf(prototype: object | null, name: string): object | null {
  if (prototype === null || Object.hasOwn(prototype, name)) return prototype
  return ownerOf(Object.getPrototypeOf(prototype), name)
}

/** Replaces a method of the framework by a guarded one, unless that was done before. */
export function replaceOnce<Method extends object>(
  owner: object,
  name: PropertyKey,
  guard: (before: Method) => Method,
): void {
  const before = memberOf(owner, name)
  if (isMethod<Method>(before) && !(guarded in before)) {
    Reflect.set(owner, name, Object.assign(guard(before), { [guarded]: true }))
  }
}

function isMethod<Method>(value: unknown): value is Method {
  return typeof value === 'function'
}
