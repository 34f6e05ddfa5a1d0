import { memberOf } from '../lib/members.js'
/** Where log lines go; pino, the console and most loggers fit. */
export interface Logger {
  warn(fields: Readonly<Record<string, unknown>>, message: string): void
  error(fields: Readonly<Record<string, unknown>>, message: string): void
}

/** The logger of an application that gave none: warnings and errors to the console, one line each. */
export function createConsoleLogger(): Logger {
  return {
    // biome-ignore lint/suspicious/noConsole: the one place where the console is meant
    warn: (fields, message) => console.warn(line(message, fields)),
    // biome-ignore lint/suspicious/noConsole: the one place where the console is meant
    error: (fields, message) => console.error(line(message, fields)),
  }
}

/**
 * JSON escapes line breaks, so that no value can start a second log line. Only the class and code of an error are logged,
 * because its message may quote the visitor's input.
 */
function line(message: string, fields: Readonly<Record<string, unknown>>): string {
  return `latchkey: ${message} ${JSON.stringify(fields, (_, value: unknown) => plain(value))}`
}

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  return value instanceof Error ? { name: value.name, code: memberOf(value, 'code') } : value
}
