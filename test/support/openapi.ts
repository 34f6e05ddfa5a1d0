import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import type { Auth } from '../../src/index.js'

/** What a document says, as far as the tests read it. */
export interface Spec {
  openapi: string
  servers: { url: string }[]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, SpecOperation>>
  components: Record<'schemas' | 'parameters' | 'headers' | 'examples' | 'securitySchemes', Record<string, object>> & {
    responses: Record<string, SpecResponse>
  }
}

export interface SpecOperation {
  operationId: string
  tags: string[]
  summary: string
  parameters: Record<string, unknown>[]
  security: Record<string, string[]>[]
  requestBody?: { required: boolean; content: Record<string, object> }
  responses: Record<string, SpecResponse>
}

export interface SpecResponse {
  $ref?: string
  headers?: object
  content?: Record<string, object>
}

/** An operation of a document, and where it stands there. */
export interface Listed {
  method: string
  path: string
  operation: SpecOperation
}

export function listed(spec: Spec): Listed[] {
  return Object.entries(spec.paths).flatMap(([path, byMethod]) =>
    Object.entries(byMethod).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
}

/** An `Auth` whose every answer is held to its own document, and what was seen: `POST /login 200`. */
export interface HeldAuth extends Pick<Auth, 'fetch'> {
  spec: Spec
  seen: Set<string>
}

/** Answers to what no operation of the document is about (pages, other methods, the application) pass unjudged. */
export async function heldToDocument(auth: Pick<Auth, 'fetch'>, basePath = '/auth'): Promise<HeldAuth> {
  const read = await auth.fetch(new Request(`http://localhost:3000${basePath}/openapi.json`), { ip: '127.0.0.1' })
  const spec: Spec = JSON.parse(await read.text())
  const judge = createJudge(spec)
  const seen = new Set<string>()
  return {
    spec,
    seen,
    async fetch(request, options) {
      const found = findOperation(spec, request)
      const sent = found && (await request.clone().text())
      const answer = await auth.fetch(request, options)
      if (found && answer.status !== 405) {
        const form = request.headers.get('content-type')?.includes('form') ?? false
        await judge(found, answer.clone(), form ? null : (sent ?? null))
        seen.add(`${found.method} ${found.path} ${answer.status}`)
      }
      return answer
    },
  }
}

function findOperation(spec: Spec, request: Request): Listed | undefined {
  const { pathname } = new URL(request.url)
  const base = new URL(spec.servers[0]?.url ?? '').pathname
  const matching = listed(spec).filter(({ path }) => {
    return new RegExp(`^${base}${path.replaceAll(/\{\w+\}/g, '[\\w.-]+')}$`).test(pathname)
  })
  return matching.find(({ method }) => method === request.method)
}

/** Checks one answer; and, where it is a success, that the document allows what was sent. */
function createJudge(spec: Spec): (found: Listed, answer: Response, sent: string | null) => Promise<void> {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true })
  ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/)
  ajv.addSchema(closed(spec), 'document')
  const check = (pointer: string): ValidateFunction => {
    const known = ajv.getSchema(`document#${pointer}`)
    if (!known) throw new Error(`The document has nothing at ${pointer}`)
    return known
  }

  return async ({ method, path, operation }, answer, sent) => {
    const place = `${method} ${path} ${answer.status}`
    const at = `/paths/${escaped(path)}/${method.toLowerCase()}`
    const status = answer.status in operation.responses ? `${answer.status}` : 'default'
    const [pointer, told] = resolved(spec, `${at}/responses/${status}`, operation.responses[status])
    const text = await answer.text()
    expect(told, `${place} is documented, for ${text}`).toBeDefined()

    for (const name of Object.keys(told?.headers ?? {}))
      expect(answer.headers.has(name), `${place}: ${name}`).toBe(true)
    const type = answer.headers.get('content-type')?.split(';')[0] ?? null
    // A person who navigates gets a refusal, and the answer to a form, as a page.
    if (type === 'text/html' && (answer.status >= 400 || method === 'POST')) return
    if (!told?.content) return expect(text, place).toBe('')
    expect(Object.keys(told.content), place).toContain(type)
    if (type?.endsWith('json')) {
      const conforms = check(`${pointer}/content/${escaped(type)}/schema`)
      expect(conforms(JSON.parse(text)) ? [] : conforms.errors, `${place} ${text}`).toEqual([])
    }
    if (answer.status < 300 && sent) {
      const allows = check(`${at}/requestBody/content/${escaped('application/json')}/schema`)
      expect(allows(JSON.parse(sent)) ? [] : allows.errors, `${place} to ${sent}`).toEqual([])
    }
  }
}

function resolved(spec: Spec, pointer: string, told: SpecResponse | undefined) {
  if (told?.$ref === undefined) return [pointer, told] as const
  return [told.$ref.slice(1), spec.components.responses[told.$ref.split('/').at(-1) ?? '']] as const
}

/** What a reference of the document leads to. */
export function lookUp(spec: object, reference: string): unknown {
  const parts = reference
    .replace(/^#\//, '')
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  return parts.reduce<unknown>((found, part) => Reflect.get(Object(found), part), spec)
}

function escaped(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))
}

/** Clients get along with more than the document names; we do not, unless it says that there may be more. */
function closed(spec: Spec): Spec {
  const copy = structuredClone(spec)
  const close = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    if ('properties' in node && 'type' in node && !('additionalProperties' in node)) {
      Object.assign(node, { additionalProperties: false })
    }
    Object.values(node).forEach(close)
  }
  close(copy.components.schemas)
  return copy
}
