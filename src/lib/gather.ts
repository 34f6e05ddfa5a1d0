export interface Gathering<Item, Answer> {
  /** Items of different groups never share a run. */
  group(item: Item): string
  /** Two items of one key never share a run either. */
  key(item: Item): string
  /** Answers in the order of the items. */
  run(items: readonly Item[]): Promise<readonly Answer[]>
  /** Whether a failed run of many items is repeated for each item alone. Otherwise all its items have failed. */
  divides(error: unknown): boolean
  /** The most items in a run. */
  most: number
}

/**
 * Merges the calls of one turn of the event loop into one run, so that many requests share one query. A run begins when
 * the event loop has read its pending input, and waits for nothing else. It runs in the asynchronous context of the first
 * caller.
 *
 * @example
 * const find = gathered({
 *   group: () => '', key: (id) => id, run: (ids) => database.findAll(ids), divides: () => false, most: 100,
 * })
 */
export function gathered<Item, Answer>(gathering: Gathering<Item, Answer>): (item: Item) => Promise<Answer> {
  const { group, key } = gathering
  let groups = new Map<string, Group<Item, Answer>>()

  function begin(): void {
    const begun = groups
    groups = new Map()
    for (const { runs } of begun.values()) for (const calls of runs) void carryOut(gathering, calls)
  }

  return (item) =>
    new Promise((resolve, reject) => {
      if (groups.size === 0) setImmediate(begin)
      const name = group(item)
      const found = groups.get(name) ?? { runs: [], open: 0, next: new Map() }
      groups.set(name, found)
      join(found, key(item), { item, resolve, reject }, gathering.most)
    })
}

interface Call<Item, Answer> {
  item: Item
  resolve(answer: Answer): void
  reject(error: unknown): void
}

interface Group<Item, Answer> {
  runs: Call<Item, Answer>[][]
  /** The first run that has room. */
  open: number
  /** The first run that the key is not in. */
  next: Map<string, number>
}

/** Takes constant time, however often a key repeats: a flood of requests must not make this search. */
function join<Item, Answer>(group: Group<Item, Answer>, key: string, call: Call<Item, Answer>, most: number): void {
  const { runs, next } = group
  let index = Math.max(next.get(key) ?? 0, group.open)
  while ((runs[index]?.length ?? 0) >= most) index += 1
  const calls = runs[index] ?? []
  runs[index] = calls
  calls.push(call)
  next.set(key, index + 1)
  while ((runs[group.open]?.length ?? 0) >= most) group.open += 1
}

async function carryOut<Item, Answer>(
  { run, divides }: Pick<Gathering<Item, Answer>, 'run' | 'divides'>,
  calls: readonly Call<Item, Answer>[],
): Promise<void> {
  try {
    const answers = await run(calls.map(({ item }) => item))
    if (answers.length !== calls.length) throw new Error('`run` must return one answer for each item, in their order.')
    answers.forEach((answer, index) => {
      calls[index]?.resolve(answer)
    })
  } catch (error) {
    if (calls.length > 1 && divides(error)) for (const call of calls) void carryOut({ run, divides }, [call])
    else for (const call of calls) call.reject(error)
  }
}
