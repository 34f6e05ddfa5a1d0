import type { FrameworkName } from './code/frameworks.js'

/** The smallest application with one protected route, for a project that has no code yet. */
export interface Starter {
  syntax: 'import' | 'require'
  isTypeScript: boolean
  /** Whether tsconfig.json brings the types of Node. */
  hasNodeTypes: boolean
  port: number
  settingsPath: string
}

/** Since TypeScript 6 no types of packages are there by themselves. */
export const nodeTypes = '/// <reference types="node" />\n'

interface Parts {
  /** Local name, or names in braces, and module. */
  imports: readonly (readonly [clause: string, specifier: string])[]
  /** Only in TypeScript: what types `auth` of a request. */
  types: string
  body: string
}

const hello = "req.auth?.kind === 'session' ? req.auth.email : req.auth?.kind"
const comment = '// Only requests with a valid credential get here: the guard answers all others below /api.'
const stop = "process.once('SIGTERM', () => server.close(() => auth.close()))"
const open = `() => console.log(\`Open http://localhost:\${port}/api/hello\`)`

const starters: Readonly<Record<FrameworkName, (starter: Starter) => Parts>> = {
  express: () => ({
    imports: [['express', 'express']],
    types: '',
    body: `const app = express()
const auth = init(app, settings)

${comment}
app.get('/api/hello', (req, res) => {
  res.json({ hello: ${hello} })
})

const server = app.listen(port)
server.once('listening', ${open})
${stop}
`,
  }),
  fastify: () => ({
    imports: [['Fastify', 'fastify']],
    types: declaration('fastify', 'FastifyRequest'),
    body: `const app = Fastify()
const auth = init(app, settings)

${comment}
app.get('/api/hello', async ({ auth }) => ({ hello: auth?.kind === 'session' ? auth.email : auth?.kind }))

app.addHook('onClose', () => auth.close())
app.listen({ port }).then(${open})
process.once('SIGTERM', () => app.close())
`,
  }),
  hono: ({ isTypeScript }) => ({
    imports: [
      ['{ serve }', '@hono/node-server'],
      ['{ Hono }', 'hono'],
    ],
    types: '',
    body: `const app = new Hono${isTypeScript ? '<{ Variables: { auth: Principal | null } }>' : ''}()
// Before the routes: Hono runs them in the order in which they were added.
const auth = init(app, settings)

${comment}
app.get('/api/hello', (c) => {
  const user = c.get('auth')
  return c.json({ hello: user?.kind === 'session' ? user.email : user?.kind })
})

const server = serve({ fetch: app.fetch, port }, ${open})
${stop}
`,
  }),
  node: () => ({
    imports: [['{ createServer }', 'node:http']],
    types: declaration('node:http', 'IncomingMessage'),
    body: `const server = createServer((req, res) => {
  if (req.url !== '/api/hello') return res.writeHead(404).end()
  ${comment}
  const hello = ${hello}
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ hello }))
})
const auth = init(server, settings)

server.listen(port, ${open})
${stop}
`,
  }),
}

/** The text of the file. */
export function starterText(framework: FrameworkName, starter: Starter): string {
  const { imports, types, body } = starters[framework](starter)
  const needsPrincipal = starter.isTypeScript && body.concat(types).includes('Principal |')
  const latchkey = needsPrincipal ? '{ init, type Principal }' : '{ init }'
  const all = [...imports, [latchkey, 'latchkey'], ['{ settings }', starter.settingsPath]] as const
  const lines = all.map(([clause, specifier]) =>
    starter.syntax === 'import' ? `import ${clause} from '${specifier}'` : `const ${clause} = require('${specifier}')`,
  )
  const port = `const port = Number(process.env.PORT ?? ${starter.port})\n`
  const reference = starter.isTypeScript && !starter.hasNodeTypes ? nodeTypes : ''
  return `${reference}${lines.join('\n')}\n\n${starter.isTypeScript ? types : ''}${port}${body}`
}

function declaration(module: string, name: string): string {
  return `declare module '${module}' {
  interface ${name} {
    auth: Principal | null
  }
}

`
}
