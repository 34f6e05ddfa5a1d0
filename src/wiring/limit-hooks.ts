import { AuthError } from '../errors.js'
import type { Hook } from '../hooks.js'
import type { World } from '../lib/runtime.js'
import type { PortHook, PortHooks } from '../ports.js'
import type { Settings } from '../settings.js'

/** A hook that takes longer has failed. No sign-in, and no connection that waits for it, may hang on outside code. */
const limitMs = 5_000

/** `onSignupUser` or `onLoginUser`. */
type LegacyHook = NonNullable<Settings['hooks']['onLoginUser']>

/**
 * The application's hooks. Each rejects when it has not ended after 5 s; later effects of it are ignored. Hooks that are not
 * set are left out, because the account is read again around each hook.
 */
export function limitHooks(hooks: Settings['hooks'], timer: World['timer']): PortHooks {
  function inOrder(name: keyof PortHooks, ...each: readonly (PortHook | null)[]): PortHooks {
    const limited = each.flatMap((hook) => (hook ? [limitHook(hook, timer)] : []))
    if (limited.length === 0) return {}
    const all: PortHook = async (input, visitor) => {
      for (const hook of limited) await hook(input, visitor)
    }
    return { [name]: all }
  }
  return {
    ...inOrder('beforeRegister', own(hooks.beforeRegister)),
    ...inOrder('afterRegister', own(hooks.afterRegister), legacy(hooks.onSignupUser)),
    ...inOrder('beforeLogin', own(hooks.beforeLogin)),
    ...inOrder('afterLogin', own(hooks.afterLogin), legacy(hooks.onLoginUser)),
  }
}

function own(hook: Hook | undefined): PortHook | null {
  return hook ? async (input) => hook(input) : null
}

/**
 * Calls the hook as codehooks-auth does: with request and response of the framework, before the response. If the hook throws
 * or rejects, the sign-in is denied. It gets no secret. Return values are ignored.
 */
function legacy(hook: LegacyHook | undefined): PortHook | null {
  if (!hook) return null
  return async ({ user }, { native }) => {
    const { request, response } = native?.() ?? {}
    try {
      await hook(request, response, { user })
    } catch (error) {
      throw error instanceof AuthError ? error : new AuthError('forbidden', { cause: error })
    }
  }
}

function limitHook(hook: PortHook, timer: World['timer']): PortHook {
  return async (input, visitor) => {
    let cancel = () => {}
    const tooLong = new Promise<never>((_resolve, reject) => {
      cancel = timer(limitMs, () => reject(new Error('the hook took longer than 5 s')))
    })
    try {
      await Promise.race([hook(input, visitor), tooLong])
    } finally {
      cancel()
    }
  }
}
