// Loads a built-in module by one way, and answers what its members do.
import module, { createRequire } from 'node:module'
import { app } from 'codehooks-js'

const require = createRequire(import.meta.url)
const absent = 'no-such-package'

// One loader for each way that Node has.
const ways = {
  import: (id) => import(id),
  'import in data': async (id) => (await import(`data:text/javascript,export { default } from '${id}'`)).default,
  require: (id) => require(id),
  getBuiltinModule: (id) => process.getBuiltinModule(id),
  _load: (id) => module._load(id, null, false),
  'another resolver': (id) =>
    withProperty(
      module,
      '_resolveFilename',
      () => id,
      () => require(absent),
    ),
  'another path': (id) =>
    withProperty(
      module,
      '_findPath',
      () => id,
      () => require(absent),
    ),
  mainModule: (id) => process.mainModule.require(id),
  constructor: (id) => new module('x').require(id),
}

function withProperty(object, name, value, run) {
  const former = object[name]
  object[name] = value
  try {
    return run()
  } finally {
    object[name] = former
  }
}

/** What calls of its functions do: the codes of what they throw, in an order without doubles. */
function membersOf(exports, names) {
  return Object.fromEntries(names.map((name) => [name, outcomeOf(exports[name])]))
}

function outcomeOf(value) {
  if (typeof value !== 'function') return typeof value
  // What is refused is refused with and without arguments. What is open is not called: it may do something.
  if (!/^function refused\d*\(/.test(String(value))) return 'open'
  const codes = [() => value(), () => new value('1')].map((run) => {
    try {
      run()
      return 'none'
    } catch (error) {
      return error.code
    }
  })
  return [...new Set(codes)].join(' ')
}

app.auth('/*', (_req, _res, next) => next())
app.post('/load', async (req, res) => {
  const { way, id } = req.body
  try {
    const exports = await ways[way](id)
    const own = exports.default ?? exports
    res.json({ members: membersOf(own, Object.keys(Object.getOwnPropertyDescriptors(own))) })
  } catch (error) {
    res.json({ code: error.code ?? error.name, message: error.message })
  }
})
app.get('/ways', (_req, res) => res.json(Object.keys(ways)))

export default app.init()
