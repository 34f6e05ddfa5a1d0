// @ts-nocheck Its types are those of better-sqlite3, whose place it takes in tests.
import { createRequire } from 'node:module'

const { DatabaseSync } = createRequire(import.meta.url)('node:sqlite')

/** The part of better-sqlite3 that tests use, over node:sqlite, for a Node in which that package cannot be loaded. */
export default class Database {
  #database
  #isOpen = true

  constructor(file, { readonly = false, timeout = 5_000 } = {}) {
    this.#database = new DatabaseSync(file, { readOnly: readonly })
    this.#database.exec(`pragma busy_timeout = ${timeout}`)
  }

  prepare(sql) {
    return new Statement(this.#database.prepare(sql))
  }

  exec(sql) {
    this.#database.exec(sql)
    return this
  }

  pragma(text, { simple = false } = {}) {
    const rows = this.prepare(`pragma ${text}`).all()
    return simple ? Object.values(rows[0] ?? {})[0] : rows
  }

  // May be called again, as in better-sqlite3.
  close() {
    if (this.#isOpen) this.#database.close()
    this.#isOpen = false
    return this
  }
}

class Statement {
  #statement
  #shape = (row) => ({ ...row })

  constructor(statement) {
    this.#statement = statement
  }

  get reader() {
    return this.#statement.columns().length > 0
  }

  pluck() {
    this.#shape = (row) => Object.values(row)[0]
    return this
  }

  raw() {
    this.#shape = (row) => Object.values(row)
    return this
  }

  // A list of parameters may come as one array.
  all(...parameters) {
    return this.#statement.all(...parameters.flat()).map(this.#shape)
  }

  get(...parameters) {
    const row = this.#statement.get(...parameters.flat())
    return row === undefined ? row : this.#shape(row)
  }

  run(...parameters) {
    return this.#statement.run(...parameters.flat())
  }

  *iterate(...parameters) {
    for (const row of this.#statement.iterate(...parameters.flat())) yield this.#shape(row)
  }
}
