import fc from 'fast-check'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { planInit } from '../../../src/cli/init/plan.js'
import { conditions, projectOf } from '../../support/project-folder.js'

const manifest = (framework: string, type: string | null = 'module') =>
  JSON.stringify({ name: 'app', ...(type && { type }), dependencies: framework === 'node' ? {} : { [framework]: '*' } })

/** The application's file after the plan; null when the plan prints lines to paste. */
function edited(
  framework: string,
  files: Readonly<Record<string, string>>,
  entry = 'app.js',
  type = 'module',
): string | null {
  const plan = planInit(projectOf({ 'package.json': manifest(framework, type), ...files }), conditions)
  if (plan.outcome !== 'ready') throw new Error(plan.sentence)
  expect(plan.paste === null).toBe(
    plan.entry.kind !== 'unknown' && plan.changes.some(({ path }) => path === plan.entry.path),
  )
  return plan.changes.find(({ path }) => path === entry)?.after ?? null
}

/** The lines that the plan added, with the number of the line before each. */
function added(before: string, after: string | null): [number, string][] {
  const lines = before.split(/\r?\n/)
  let next = 0
  const found = (after ?? '').split(/\r?\n/).flatMap((text): [number, string][] => {
    if (text !== lines[next]) return [[next, text]]
    next += 1
    return []
  })
  expect(next).toBe(lines.length)
  return found
}

describe('the three lines', () => {
  test.each([
    [
      'express',
      "import express from 'express'\nimport { a } from './a.js'\n\nexport const app = express()\napp.use(a)\n",
      [
        [2, "import { init } from 'latchkey'"],
        [2, "import { settings } from './latchkey.config.js'"],
        [4, 'init(app, settings)'],
      ],
    ],
    [
      'express',
      'import express from "express";\n\nconst app = express();',
      [
        [1, 'import { init } from "latchkey";'],
        [1, 'import { settings } from "./latchkey.config.js";'],
        [3, 'init(app, settings);'],
      ],
    ],
    [
      'express',
      "import express from 'express'\nclass Server {\n\tapp\n\tconstructor() {\n\t\tthis.app = express()\n\t}\n}\n",
      [
        [1, "import { init } from 'latchkey'"],
        [1, "import { settings } from './latchkey.config.js'"],
        [5, '\t\tinit(this.app, settings)'],
      ],
    ],
    [
      'express',
      "import express from 'express'\nconst app = express()\napp.set('view engine', 'x')\napp.enable('strict routing')\n",
      [
        [1, "import { init } from 'latchkey'"],
        [1, "import { settings } from './latchkey.config.js'"],
        [4, 'init(app, settings)'],
      ],
    ],
    [
      'fastify',
      "import {\n  fastify as create,\n} from 'fastify'\nconst app = create({\n  logger: { level: 'info' },\n}) // the root\napp.get('/', async () => '')\n",
      [
        [3, "import { init } from 'latchkey'"],
        [3, "import { settings } from './latchkey.config.js'"],
        [6, 'init(app, settings)'],
      ],
    ],
    [
      'hono',
      "import { Hono } from 'hono'\nconst app = new Hono<{ Variables: { a: () => void } }>()\napp.get('/', (c) => c.text(''))\n",
      [
        [1, "import { init } from 'latchkey'"],
        [1, "import { settings } from './latchkey.config.js'"],
        [2, 'init(app, settings)'],
      ],
    ],
    [
      'node',
      "import * as http from 'http'\nlet settings = 1\nconst server = http.createServer(\n  (req, res) => res.end(`a ;`),\n)\nserver.listen(settings)\n",
      [
        [1, "import { init } from 'latchkey'"],
        [1, "import { settings as latchkeySettings } from './latchkey.config.js'"],
        [5, 'init(server, latchkeySettings)'],
      ],
    ],
    [
      'express',
      "import express from 'express'\nfunction init() {}\nconst app = express()\n",
      [
        [1, "import { init as initLatchkey } from 'latchkey'"],
        [1, "import { settings } from './latchkey.config.js'"],
        [3, 'initLatchkey(app, settings)'],
      ],
    ],
  ] as const)('%s: stand behind the imports and the line that makes the application: %j', (framework, text, lines) => {
    expect(added(text, edited(framework, { 'app.js': text }))).toEqual(lines)
  })

  test.each([
    [
      'express',
      "var express = require('express'),\n    path = require('path');\n\nvar app = module.exports = express();\n",
      [
        [2, "const { init } = require('latchkey');"],
        [2, "const { settings } = require('./latchkey.config.js');"],
        [4, 'init(app, settings);'],
      ],
    ],
    [
      'fastify',
      "'use strict'\n\n// The server\nconst fastify = require('fastify')({ logger: true })\n",
      [
        [3, "const { init } = require('latchkey')"],
        [3, "const { settings } = require('./latchkey.config.js')"],
        [4, 'init(fastify, settings)'],
      ],
    ],
    [
      'express',
      '#!/usr/bin/env node\n"use strict"\nfunction create() {\n  const app = require("express")()\n  return app\n}\n',
      [
        [2, 'const { init } = require("latchkey")'],
        [2, 'const { settings } = require("./latchkey.config.js")'],
        [4, '  init(app, settings)'],
      ],
    ],
    [
      'node',
      "const { createServer: create } = require('node:http')\nconst init = 1, settings = 2\nlet server\nserver = create()\n",
      [
        [1, "const { init: initLatchkey } = require('latchkey')"],
        [1, "const { settings: latchkeySettings } = require('./latchkey.config.js')"],
        [4, 'initLatchkey(server, latchkeySettings)'],
      ],
    ],
  ] as const)('%s: are requires in CommonJS: %j', (framework, text, lines) => {
    expect(added(text, edited(framework, { 'app.js': text }, 'app.js', 'commonjs'))).toEqual(lines)
  })

  test('go to the application that is served, not to its routers and tests', () => {
    const router = "import { Hono } from 'hono'\nexport const app = new Hono()\n"
    const root =
      "import { Hono } from 'hono'\nimport { app as notes } from './notes.js'\nconst app = new Hono()\napp.route('/api', notes)\nexport { app }\n"
    const start = "import { serve } from '@hono/node-server'\nimport { app } from './app.js'\nserve(app)\n"
    const files = {
      'src/notes.js': router,
      'src/app.js': root,
      'src/main.js': start,
      'test/app.js': router,
      'src/app.test.js': router,
    }
    expect(edited('hono', files, 'src/app.js')).toContain("from '../latchkey.config.js'")
    expect(edited('hono', files, 'src/notes.js')).toBeNull()
  })

  test('go to the main one of two Express applications in a file', () => {
    const text =
      "import http from 'node:http'\nimport express from 'express'\nconst admin = express()\nconst app = express()\napp.use('/admin', admin)\nhttp.createServer({ keepAlive: true }, app)\n"
    expect(added(text, edited('express', { 'app.js': text }))).toContainEqual([4, 'init(app, settings)'])
  })
})

describe('lines to paste instead', () => {
  test.each([
    ['express', "import express from 'express'\nexport default express()\n"],
    ['express', "import express from 'express'\nconst app = express(), port = 3000\n"],
    ['express', "import express from 'express'\nconst app = express(); app.get('/', a)\n"],
    ['express', "import express from 'express'\nconst app = express()\n  .disable('etag')\n"],
    ['express', "import express from 'express'\nif (a) { const app = express() }\n"],
    ['express', "import express from 'express'\nconst app = express()\nif (a) {\n  app.enable('strict routing')\n}\n"],
    ['express', "import express from 'express'\nconst a = express()\nconst b = express()\n"],
    ['express', "import express from 'express'\nconst init = 1, initLatchkey = 2\nconst app = express()\n"],
    [
      'express',
      "// const app = express()\n/* const app = express() */\nimport express from 'express'\nconst text = `\nconst app = express()\n`\n",
    ],
    ['express', "import { createApp } from './framework.js'\nconst app = createApp()\n"],
    ['express', "import express from 'koa'\nconst app = express()\n"],
    ['hono', "import { Hono } from 'hono'\nconst app = new Hono().basePath('/v1')\n"],
    ['hono', "import { Hono } from 'hono'\nconst app = new Hono()\n// routes\n.get('/', a)\n"],
    ['node', "import { createServer } from 'node:http'\ncreateServer(a).listen(3000)\n"],
  ])('%s: %j', (framework, text) => {
    const plan = planInit(projectOf({ 'package.json': manifest(framework), 'app.js': text }), conditions)
    const name = framework === 'node' ? 'server' : 'app'
    const lines = [
      "import { init } from 'latchkey'",
      "import { settings } from './latchkey.config.js'",
      `init(${name}, settings)`,
    ]
    expect(plan).toMatchObject({ outcome: 'ready', paste: { lines } })
    expect(edited(framework, { 'app.js': text })).toBeNull()
  })

  test('where not all files of the folder could be listed', () => {
    const text = "import express from 'express'\nconst app = express()\n"
    const project = projectOf({ 'package.json': manifest('express'), 'app.js': text }, { isComplete: false })
    expect(planInit(project, conditions)).toMatchObject({ entry: { kind: 'unknown' } })
  })
})

describe('any file', () => {
  const heads = ['', '#!/usr/bin/env node\n', '\uFEFF', '// @ts-check\n', '/* License: const app = express() */\n']
  const directives = ['', "'use strict'\n", '"use strict";\n\n']
  const imports = {
    module: [
      "import express from 'express'\n",
      "import 'a'\nimport express, {\n  Router,\n} from 'express'\nimport b from 'b'\n",
    ],
    commonjs: [
      "const express = require('express')\n",
      "const b = require('b')({\n  c: 1,\n})\nvar express = require('express'),\n  path = require('path')\n",
    ],
  }
  const noise = [
    '',
    '\n',
    'const text = "const app = express()" // const app = express()\n',
    'const pattern = /[`\'"/{]/g\n',
    `const html = \`\n\${\`{\`} app = express()\n\`\n`,
    'function other(a, b) {\n\treturn a / b / 2\n}\n',
  ]
  const makers = [
    ['', 'const app = express()', ''],
    ['', 'export_let app = express()', ''],
    ['function create() {\n', '\t  const app = express()', '\treturn app\n}\n'],
    ['async function main() {\n  try {\n', '    const app = express( /* nothing */ )', '  } finally {\n  }\n}\n'],
  ] as const
  const ends = ['', 'app_get\n', '// the end', "\n\nconst last = ['}', `)`]\n"]
  const file = fc.record({
    type: fc.constantFrom('module', 'commonjs' as const),
    eol: fc.constantFrom('\n', '\r\n'),
    semicolon: fc.constantFrom('', ';'),
    head: fc.constantFrom(...heads),
    directive: fc.constantFrom(...directives),
    imported: fc.nat({ max: 1 }),
    noise: fc.array(fc.constantFrom(...noise), { maxLength: 3 }),
    maker: fc.constantFrom(...makers),
    end: fc.constantFrom(...ends),
  })

  function textOf(parts: typeof file extends fc.Arbitrary<infer T> ? T : never): string {
    const [before, maker, after] = parts.maker
    const own = maker.replace('export_let', parts.type === 'module' ? 'export let' : 'let')
    const get = after === '' ? `app.get('/', () => {})${parts.semicolon}` : ''
    const statement = `${own}${parts.semicolon}\n`
    const rest = parts.end.replace('app_get', get)
    const head = parts.head + parts.directive + (imports[parts.type][parts.imported] ?? '')
    return `${head}${parts.noise.join('')}${before}${statement}${after}${rest}`.replaceAll('\n', parts.eol)
  }

  test('gains three lines in the right places, stays a program, and keeps every other byte', () => {
    fc.assert(
      fc.property(file, (parts) => {
        const text = textOf(parts)
        const after = edited('express', { 'app.js': text }, 'app.js', parts.type) ?? expect.fail(text)
        const lines = added(text, after).map(([, line]) => line.trim())
        expect(lines).toHaveLength(3)
        expect(after.replaceAll('\r\n', '\n').includes('\r')).toBe(false)
        if (parts.eol === '\r\n') expect(after.replaceAll('\r\n', '')).not.toContain('\n')
        const tree = ts.createSourceFile('app.js', after, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS)
        expect(syntaxFaults(after)).toEqual([])
        expect(statementBefore(tree, /^init\(app, settings\);?$/)).toMatch(/app = express\(/)
        for (const line of lines.slice(0, 2)) expect(tree.statements.map((each) => each.getText(tree))).toContain(line)
      }),
      { numRuns: 400 },
    )
  })

  function syntaxFaults(text: string) {
    return ts.transpileModule(text, { reportDiagnostics: true, fileName: 'app.js', compilerOptions: { allowJs: true } })
      .diagnostics
  }

  /** The statement in front of the one that matches, in the same block. */
  function statementBefore(tree: ts.SourceFile, pattern: RegExp): string | undefined {
    let found: string | undefined
    const visit = (node: ts.Node) => {
      const statements = ts.isBlock(node) || ts.isSourceFile(node) ? node.statements : []
      const at = [...statements].findIndex((statement) => pattern.test(statement.getText(tree)))
      if (at > 0) found = statements[at - 1]?.getText(tree)
      ts.forEachChild(node, visit)
    }
    visit(tree)
    return found
  }
})

test.each([
  ['app.listen(8080)', '8080'],
  ['app.listen(process.env.PORT || 5000)', '5000'],
  ["const port = Number(process.env.PORT ?? '4321')\napp.listen(port)", '4321'],
  ['serve({ fetch: app.fetch, port: 8787 })', '8787'],
  ['app.listen(a)', '3000'],
])('the address has the port of %j', (line, port) => {
  const text = `import express from 'express'\nconst app = express()\n${line}\n`
  expect(edited('express', { 'app.js': text }, '.env')).toContain(`APP_URL=http://localhost:${port}\n`)
})
