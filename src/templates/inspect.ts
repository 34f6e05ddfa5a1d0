import type { Environment } from './environment.js'
import type { Labels } from './labels.js'

/** A fault of a template, and its line. */
export interface TemplateFault {
  line: number | null
  message: string
}

interface Allowed {
  /** The names of the values that the template gets. */
  values: ReadonlySet<string>
  labels: Labels
  layouts: ReadonlySet<string>
}

type Node = Readonly<Record<string, unknown>>

/** Inline partials of a page that our page layout places: below its title, below the card, in the bar, at the side. */
const slots = new Set(['sub', 'foot', 'end', 'nav', 'styles'])
const helpers = new Set([
  'inline',
  'label',
  'links',
  'codeIn',
  'linkIn',
  'shortTime',
  'if',
  'unless',
  'each',
  'with',
  'lookup',
])

/**
 * Finds the faults of a template in all its branches: syntax that the compiler refuses, unknown values and labels, and layouts
 * that do not exist or are chosen by a value.
 */
export function inspectTemplate(environment: Environment, text: string, allowed: Allowed): TemplateFault[] {
  try {
    const tree = environment.inspect(text)
    return nodesOf(tree, new Set()).flatMap(({ node, locals }) => nodeFaults(node, allowed, locals))
  } catch (error) {
    return [compileFault(error)]
  }
}

/** All names that occur anywhere in these values. */
export function namesIn(values: unknown): string[] {
  if (Array.isArray(values)) return ['length', ...values.flatMap(namesIn)]
  if (!isNode(values)) return []
  return Object.entries(values).flatMap(([name, value]) => [name, ...namesIn(value)])
}

/** Line and reason of an error of the compiler or a renderer, in one line and without an excerpt. */
export function compileFault(error: unknown): TemplateFault {
  const text = error instanceof Error ? error.message : 'cannot be compiled'
  const line = /^Parse error on line (\d+)/.exec(text) ?? / - (\d+):\d+$/.exec(text)
  const message = text.trim().split('\n').at(-1) ?? ''
  return { line: line ? Number(line[1]) : null, message: message.replace(/ - \d+:\d+$/, '') }
}

function nodeFaults(node: Node, allowed: Allowed, locals: ReadonlySet<string>): TemplateFault[] {
  const fault = (message: string): TemplateFault[] => [{ line: lineOf(node), message }]
  if (node.type === 'PartialStatement' || node.type === 'PartialBlockStatement') {
    const name = isNode(node.name) ? node.name.original : null
    if (typeof name !== 'string') return fault('a layout must be named, not looked up')
    return name === '@partial-block' || allowed.layouts.has(name) || slots.has(name)
      ? []
      : fault(`there is no layout ${name}`)
  }
  if (node.type === 'MustacheStatement' || node.type === 'SubExpression') {
    const name = labelOf(node)
    return name === null || Object.hasOwn(allowed.labels, name) ? [] : fault(`there is no label ${name}`)
  }
  if (node.type !== 'PathExpression') return []
  const unknown = namesOf(node).find((name) => !allowed.values.has(name) && !locals.has(name))
  return unknown === undefined ? [] : fault(`there is no value ${unknown} here`)
}

/** The names of values in a path, without those of helpers, layouts and `@index`. */
function namesOf(path: Node): string[] {
  const parts = Array.isArray(path.parts) ? path.parts.filter((part) => typeof part === 'string') : []
  if (path.data === true) return parts[0] === 'root' ? parts.slice(1) : []
  return parts.length === 1 && parts[0] !== undefined && helpers.has(parts[0]) ? [] : parts
}

function labelOf({ path, params }: Node): string | null {
  if (!isNode(path) || path.original !== 'label' || !Array.isArray(params)) return null
  const [name]: unknown[] = params
  return isNode(name) && typeof name.original === 'string' && name.type === 'StringLiteral' ? name.original : null
}

/** Every node with the block parameters (`as |mail|`) that it can see. The names of layouts are no values. */
function nodesOf(tree: unknown, around: ReadonlySet<string>): { node: Node; locals: ReadonlySet<string> }[] {
  if (Array.isArray(tree)) return tree.flatMap((item) => nodesOf(item, around))
  if (!isNode(tree)) return []
  const own = Array.isArray(tree.blockParams) ? tree.blockParams.map(String) : []
  const locals = own.length > 0 ? new Set([...around, ...own]) : around
  const isLayout = tree.type === 'PartialStatement' || tree.type === 'PartialBlockStatement'
  const inside = Object.entries(tree).filter(([name]) => name !== 'loc' && !(isLayout && name === 'name'))
  const below = inside.flatMap(([, value]) => nodesOf(value, locals))
  return typeof tree.type === 'string' ? [{ node: tree, locals }, ...below] : below
}

function lineOf(node: Node): number | null {
  const start = isNode(node.loc) ? node.loc.start : null
  return isNode(start) && typeof start.line === 'number' ? start.line : null
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
