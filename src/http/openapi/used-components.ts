import type { ApiDocument } from './document-types.js'

type Components = ApiDocument['components']

/** The document without components that no operation refers to, directly or through another component. */
export function withUsedComponents(document: ApiDocument): ApiDocument {
  const { components, paths } = document
  const used = new Set<string>()
  const pending = referencesIn(paths)
  for (let reference = pending.pop(); reference !== undefined; reference = pending.pop()) {
    if (used.has(reference)) continue
    used.add(reference)
    pending.push(...referencesIn(componentOf(components, reference)))
  }
  const kept = <Value>(kind: keyof Components, values: Readonly<Record<string, Value>>) =>
    Object.fromEntries(Object.entries(values).filter(([name]) => used.has(`#/components/${kind}/${name}`)))
  return {
    ...document,
    components: {
      ...components, // security schemes are referred to by name, not by reference
      schemas: kept('schemas', components.schemas),
      responses: kept('responses', components.responses),
      parameters: kept('parameters', components.parameters),
      headers: kept('headers', components.headers),
      examples: kept('examples', components.examples),
    },
  }
}

function referencesIn(value: unknown): string[] {
  return [...JSON.stringify(value ?? null).matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference = '']) => reference)
}

function componentOf(components: Components, reference: string): unknown {
  const [kind = '', name = ''] = reference.replace('#/components/', '').split('/')
  const found = Object.entries(components).find(([key]) => key === kind)?.[1]
  return Object.entries(found ?? {}).find(([key]) => key === name)?.[1]
}
