/** A package that is loaded when it is first needed, since it costs what most processes never use. */
export interface LateModule<T> {
  /** Loads it by `import()`, which bundlers follow. */
  load(): Promise<void>
  /** The package; loads it at once where `load` was not awaited, which a bundle without `node_modules` cannot do. */
  get(): T
}

/**
 * @example lateModule(async () => (await import('handlebars')).default, () => createRequire(import.meta.url)('handlebars'))
 */
export function lateModule<T>(load: () => Promise<T>, loadNow: () => T): LateModule<T> {
  let loaded: T | undefined
  let loading: Promise<void> | null = null

  return {
    load() {
      loading ??= load().then(
        (found) => {
          loaded = found
        },
        (error: unknown) => {
          loading = null // out of file handles, say: the next one tries again
          throw error
        },
      )
      return loading
    },
    get() {
      loaded ??= loadNow()
      return loaded
    },
  }
}
