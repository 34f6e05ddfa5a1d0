import vm from 'node:vm'

// Code that V8 has compiled before is memory that V8 trusts: one changed byte in it can reach everything in the process. Only
// `cachedData` takes such bytes from an application.

// Kept, because an application can replace them.
const { construct } = Reflect
const { create } = Object

/**
 * Makes each function of node:vm refuse the option `cachedData`. Call it before anything of the application is loaded.
 *
 * @param refuse throws
 */
export function closeCodeCache(refuse: () => never): void {
  const { Script, compileFunction, runInContext, runInNewContext, runInThisContext } = vm

  /** A copy that Node can read nothing else from: neither a getter nor a prototype can bring the option back. */
  function checked(options: unknown): object {
    const copy: Record<string, unknown> = create(null)
    if (typeof options === 'string') copy.filename = options
    else if (isRecord(options)) for (const name in options) copy[name] = options[name]
    if (copy.cachedData !== undefined) refuse()
    copy.cachedData = undefined
    return copy
  }

  // No class: its prototype would be the former one.
  function GuardedScript(code: string, options: unknown): object {
    return construct(Script, [code, checked(options)], new.target)
  }
  Object.defineProperty(GuardedScript, 'name', { value: 'Script' })
  Object.defineProperty(GuardedScript, 'prototype', { value: Script.prototype, writable: false })
  // Below the class is a native one, which takes such bytes too.
  for (const each of [Script.prototype, Object.getPrototypeOf(Script.prototype)]) {
    Object.defineProperty(each, 'constructor', { value: GuardedScript })
  }
  const guarded: Readonly<Record<string, unknown>> = {
    Script: GuardedScript,
    createScript: (code: string, options: unknown) => construct(Script, [code, checked(options)]),
    compileFunction: (code: string, names: string[], options: unknown) =>
      compileFunction(code, names, checked(options)),
    runInContext: (code: string, context: vm.Context, options: unknown) =>
      runInContext(code, context, checked(options)),
    runInNewContext: (code: string, context: vm.Context, options: unknown) =>
      runInNewContext(code, context, checked(options)),
    runInThisContext: (code: string, options: unknown) => runInThisContext(code, checked(options)),
    SourceTextModule: refuse,
  }
  for (const [name, value] of Object.entries(guarded)) if (name in vm) Object.defineProperty(vm, name, { value })
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
