// Hands code that was compiled before to each function of node:vm, by several ways, and answers what came of it.
import vm from 'node:vm'
import { app } from 'codehooks-js'

const code = '40 + 2'
const cachedData = new vm.Script(code).createCachedData()
const below = (object) => Object.getPrototypeOf(object)

class Inherited {
  get cachedData() {
    return cachedData
  }
}

let reads = 0
const optionsOf = {
  own: () => ({ cachedData }),
  inherited: () => Object.create({ cachedData }),
  'by a getter of a class': () => new Inherited(),
  'by a getter that changes': () => ({
    get cachedData() {
      reads += 1
      return reads % 2 === 0 ? cachedData : undefined
    },
  }),
  'by a proxy': () =>
    new Proxy({}, { get: (_, name) => (name === 'cachedData' ? cachedData : undefined), ownKeys: () => [] }),
}

const context = vm.createContext({})
const calls = {
  Script: (options) => new vm.Script(code, options),
  'a class over Script': (options) => new (class extends vm.Script {})(code, options),
  'the constructor of a script': (options) => new new vm.Script(code).constructor(code, options),
  'the native constructor': (options) => new (below(vm.Script.prototype).constructor)(code, options ?? {}),
  createScript: (options) => vm.createScript(code, options),
  compileFunction: (options) => vm.compileFunction(`return ${code}`, [], options),
  runInContext: (options) => vm.runInContext(code, context, options),
  runInNewContext: (options) => vm.runInNewContext(code, {}, options),
  runInThisContext: (options) => vm.runInThisContext(code, options),
}

/** V8 says of each script whether it took the bytes, so `undefined` stands for none given. */
function outcomeOf(call, options) {
  try {
    const made = call(options)
    return made?.cachedDataRejected === undefined ? 'not used' : 'used'
  } catch (error) {
    return error.code ?? error.message
  }
}

function outcomes() {
  return Object.fromEntries(
    Object.entries(calls).map(([name, call]) => [
      name,
      Object.fromEntries(Object.entries(optionsOf).map(([way, make]) => [way, outcomeOf(call, make())])),
    ]),
  )
}

/** Every object has the option, also those that Node makes of no options or of a file name. */
function pollutedOutcomes() {
  Object.defineProperty(Object.prototype, 'cachedData', { value: cachedData, configurable: true, writable: true })
  try {
    return Object.fromEntries(
      Object.entries(calls).map(([name, call]) => [name, [undefined, 'a.js', {}].map((each) => outcomeOf(call, each))]),
    )
  } finally {
    delete Object.prototype.cachedData
  }
}

app.auth('/*', (_req, _res, next) => next())
app.get('/outcomes', (_req, res) => res.json({ ...outcomes(), polluted: pollutedOutcomes() }))
app.get('/works', (_req, res) => {
  class Own extends vm.Script {}
  const script = new vm.Script(code, { filename: 'a.js', produceCachedData: true })
  const thrown = new vm.Script('\nthrow new Error("x")', { filename: 'named.js', lineOffset: 10 })
  let stack = ''
  try {
    thrown.runInThisContext()
  } catch (error) {
    stack = error.stack
  }
  res.json({
    results: [
      script.runInThisContext(),
      new Own(code).runInThisContext(),
      vm.runInContext('a', vm.createContext({ a: 42 })),
      vm.runInNewContext('a', { a: 42 }, 'b.js'),
      vm.runInThisContext(code, { displayErrors: false }),
      vm.compileFunction('return a', ['a'])(42),
    ],
    instances: [script instanceof vm.Script, new Own(code) instanceof Own, new Own(code) instanceof vm.Script],
    name: vm.Script.name,
    produced: script.cachedDataProduced,
    isNamed: stack.includes('named.js:12'),
    statics: below(vm.Script) === Function.prototype,
  })
})

export default app.init()
