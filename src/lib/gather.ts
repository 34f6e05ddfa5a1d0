export interface Gathering<Item, Answer> {
  /** Items of different groups never share a run. */
  group(item: Item): string
  /** Two items of one key never share a run either. */
  key(item: Item): string
  /** Answers in the order of the items. */
  run(items: readonly Item[]): Promise<readonly Answer[]>
  /** Whether a run of many that failed so is to be done again for each alone; otherwise all of them have failed. */
  divides(error: unknown): boolean
}

/**
 * Makes the calls of one turn of the event loop one run: what many requests ask for at the same time is asked for once.
 * Nobody waits for another turn, so that a call that comes alone runs alone, and no later than it would have.
 *
 * @example const find = gathered({ group: () => '', key: (id) => id, run: (ids) => database.findAll(ids), divides: () => false })
 */
export function gathered<Item, Answer>({
  group,
  key,
  run,
  divides,
}: Gathering<Item, Answer>): (item: Item) => Promise<Answer> {
  interface Call {
    item: Item
    resolve(answer: Answer): void
    reject(error: unknown): void
  }
  let runs = new Map<string, Map<string, Call>[]>()

  function begin(): void {
    const begun = runs
    runs = new Map()
    for (const calls of [...begun.values()].flat()) void carryOut([...calls.values()])
  }

  async function carryOut(calls: readonly Call[]): Promise<void> {
    try {
      const answers = await run(calls.map(({ item }) => item))
      if (answers.length !== calls.length) throw new Error('Not every item has an answer.')
      answers.forEach((answer, index) => {
        calls[index]?.resolve(answer)
      })
    } catch (error) {
      if (calls.length > 1 && divides(error)) for (const call of calls) void carryOut([call])
      else for (const call of calls) call.reject(error)
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      if (runs.size === 0) setImmediate(begin)
      const [name, own] = [group(item), key(item)]
      const sisters = runs.get(name) ?? []
      runs.set(name, sisters)
      const free = sisters.find((calls) => !calls.has(own))
      const call = { item, resolve, reject }
      if (free) free.set(own, call)
      else sisters.push(new Map([[own, call]]))
    })
}
