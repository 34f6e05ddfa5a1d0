import { AuthError } from '../errors.js'
import type { Hook } from '../hooks.js'
import type { World } from '../lib/runtime.js'
import type { PortHook, PortHooks } from '../ports.js'
import type { Settings } from '../settings.js'

/** A hook that takes longer has failed: no sign-in, and no connection that waits for it, may hang on somebody else. */
const limitMs = 5_000

/** `onSignupUser` or `onLoginUser`. */
type LegacyHook = NonNullable<Settings['hooks']['onLoginUser']>

/**
 * The owner's hooks, each of which rejects when it has not come to an end after 5 s; what it does later counts no more.
 * Only those that there are: around a hook the account is read again.
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
 * As codehooks-auth calls them: request and response of the framework, before the answer; whatever they throw or reject
 * with denies. Nothing secret is handed over, and what they return is nobody's.
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
