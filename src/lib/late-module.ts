/** A package that is loaded on first use, because most processes never need it. */
export interface LateModule<T> {
  /** Loads it by `import()`, which bundlers follow. */
  load(): Promise<void>
  /** The package. Loads it synchronously if `load` was not awaited, which a bundle without `node_modules` cannot do. */
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
          loading = null // for example too many open files: the next call tries again
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
