/** How the cookie that arrived differs from the one that was sent; null when it is the same. */
export function cookieFault(sent: string, arrived: readonly string[]): string | null {
  const original = parseLine(sent)
  const found = arrived.map(parseLine).find(({ name }) => name === original.name)
  if (found === undefined) return `The cookie ${original.name} did not arrive under its name.`
  if (found.value !== original.value) return `The value of the cookie ${original.name} has changed.`
  const names = new Set([...original.attributes.keys(), ...found.attributes.keys()])
  const changed = [...names].filter((name) => original.attributes.get(name) !== found.attributes.get(name))
  if (changed.length === 0) return null
  return `The cookie ${original.name} arrived with another ${changed.join(', ')}.`
}

interface CookieLine {
  name: string
  value: string
  /** By lower-case name; without a value, empty. */
  attributes: ReadonlyMap<string, string>
}

function parseLine(line: string): CookieLine {
  const [pair = '', ...attributes] = line.split(';').map((part) => part.trim())
  const [name, value] = splitPair(pair)
  // Names, and the values of SameSite, have no case (RFC 6265bis §5.6). A path has one.
  const read = attributes.map(splitPair).map(([key, text]): [string, string] => {
    const attribute = key.toLowerCase()
    return [attribute, attribute === 'path' ? text : text.toLowerCase()]
  })
  return { name, value, attributes: new Map(read) }
}

function splitPair(pair: string): [name: string, value: string] {
  const equals = pair.indexOf('=')
  return equals === -1 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)]
}
