// Writes src/cli/remote/contract-table.ts: of each operation of src/contract what the tool needs to call it, so that the tool
// loads neither the schemas nor zod. Run by `npm run generate`; the same contract always gives the same table.
import { writeFileSync } from 'node:fs'
import { build } from 'esbuild'

const [file = 'src/cli/remote/contract-table.ts'] = process.argv.slice(2)
const { outputFiles } = await build({
  stdin: {
    contents: "export { contract } from './src/contract/contract.ts'\nexport { z } from 'zod'",
    resolveDir: process.cwd(),
  },
  bundle: true,
  write: false,
  platform: 'node',
  format: 'esm',
})
const { contract, z } = await import(
  `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`
)

/** An answer as the tool checks it: see `Shape` in src/cli/remote/shape.ts. */
function shapeOf({ type, anyOf, enum: words, items, properties, required = [], additionalProperties }) {
  if (Array.isArray(type)) {
    const [only, ...others] = type.filter((each) => each !== 'null')
    if (others.length === 0) return { orNull: shapeOf({ type: only }) }
    if ([only, ...others].every((each) => ['string', 'number', 'boolean'].includes(each))) return 'fact'
  }
  if (anyOf) {
    const rest = anyOf.filter((each) => each.type !== 'null')
    if (rest.length === 1 && rest.length < anyOf.length) return { orNull: shapeOf(rest[0]) }
    if (rest.every((each) => ['string', 'number', 'boolean'].includes(each.type))) return 'fact'
    throw new Error('The tool cannot read a union of such shapes. Add it to src/cli/remote/shape.ts.')
  }
  if (words || type === 'string') return 'text'
  if (type === 'number' || type === 'integer') return 'number'
  if (type === 'boolean') return 'flag'
  if (type === 'array') return { list: shapeOf(items) }
  if (type === 'object' && !properties) return { map: shapeOf(additionalProperties) }
  if (type !== 'object') return 'any'
  const fields = Object.entries(properties).map(([name, schema]) => {
    const shape = shapeOf(schema)
    return [name, required.includes(name) || shape.orNull ? shape : { orNull: shape }]
  })
  const isOpen = typeof additionalProperties === 'object'
  return { fields: Object.fromEntries(fields), ...(isOpen && { open: true }) }
}

function lineOf({ method, path, home, answers = {} }) {
  const schema = Object.values(answers).find((answer) => answer instanceof z.ZodType)
  const answer = schema ? shapeOf(z.toJSONSchema(schema, { io: 'output' })) : null
  const mayBeEmpty = answer !== null && Object.values(answers).includes(null)
  return { method, path, inSpace: home === 'space', answer, ...(mayBeEmpty && { mayBeEmpty }) }
}

const nouns = Object.entries(contract).map(([noun, operations]) => {
  const lines = Object.entries(operations).map(([name, each]) => `    ${name}: ${JSON.stringify(lineOf(each))},`)
  return `  ${noun}: {\n${lines.join('\n')}\n  },`
})

writeFileSync(
  file,
  `// Generated from src/contract by .ci/build-contract.js: change the files there, not this one.
import type { ContractTable } from './contract-calls.js'

/** How each operation of the control API is called, and what its answer looks like. */
export const contract: ContractTable = {
${nouns.join('\n')}
}
`,
)
