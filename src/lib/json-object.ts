/** The object that a JSON text holds; null when it holds anything else, or is no JSON. */
export function parseJsonObject(text: string): Readonly<Record<string, unknown>> | null {
  const value = parseJson(text)
  return isObject(value) ? value : null
}

/** The value of a JSON text; undefined for a text that is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
