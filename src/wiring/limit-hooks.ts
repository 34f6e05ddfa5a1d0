import type { Hook, Hooks } from '../hooks.js'
import type { World } from '../lib/runtime.js'

/** A hook that takes longer has failed: no sign-in, and no connection that waits for it, may hang on somebody else. */
const limitMs = 5_000

/** The owner's hooks, each of which rejects when it has not come to an end after 5 s; what it does later counts no more. */
export function limitHooks(hooks: Hooks, timer: World['timer']): Hooks {
  const limited: Hooks = {}
  for (const name of ['beforeRegister', 'afterRegister', 'beforeLogin', 'afterLogin'] as const) {
    const hook = hooks[name]
    if (hook) limited[name] = limitHook(hook, timer)
  }
  return limited
}

function limitHook(hook: Hook, timer: World['timer']): Hook {
  return async (input) => {
    let cancel = () => {}
    const tooLong = new Promise<never>((_resolve, reject) => {
      cancel = timer(limitMs, () => reject(new Error('the hook took longer than 5 s')))
    })
    try {
      await Promise.race([hook(input), tooLong])
    } finally {
      cancel()
    }
  }
}
