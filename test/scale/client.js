// node client.js {ports, origin, actors}: all the people, in a process of their own. Its parent says which phase it is,
// brings the mail, and in the end asks for the verdict.
import { createAsk } from './ask.js'
import { createDeeds } from './deeds.js'
import { createMails } from './mails.js'
import { createOracle } from './oracle.js'
import { createPerson } from './person.js'
import { createRevoked, createUsed } from './revoked.js'

const { ports, origin, actors } = JSON.parse(process.argv[2])
/** People that one actor cares for: the others wait, signed in, until the end. */
const peopleAtOnce = 12
/** One in so many has an address that the mail server refuses for good. */
const poisonEvery = 50
const drainMs = 200_000

const instances = ports.map((_, index) => index)
const oracle = createOracle()
const ask = createAsk({ ports, origin, oracle })
const mails = createMails()
const revoked = createRevoked({ ask, oracle, instances })
const used = createUsed({ ask, oracle })
const deeds = createDeeds({ ask, oracle, mails, revoked, used, instances })
const people = []
let stopped = false

process.on('disconnect', () => process.exit())
process.on('message', async ({ mail, phase, finish }) => {
  if (mail) mails.take(mail)
  if (phase) oracle.enter(phase)
  if (!finish) return
  stopped = true
  await acting
  await judge(finish)
  process.send({ report: report() })
})
process.send({ ready: true })

const acting = Promise.all(Array.from({ length: actors }, (_, index) => act(index)))

async function act(index) {
  const own = []
  while (!stopped) {
    if (people.length % poisonEvery === 0) arrive(`poison-${people.length}`)
    if (own.length === 0 || Math.random() < 0.12) own.push(await arrive(`p${index}-${people.length}`))
    else await deeds.live(own[Math.floor(Math.random() * own.length)])
    while (own.length > peopleAtOnce || own[0]?.disabled) own.shift()
    await new Promise((resolve) => setTimeout(resolve, 30 + 120 * Math.random()))
  }
}

async function arrive(name) {
  const person = createPerson(name)
  people.push(person)
  await deeds.register(person)
  return person
}

async function judge({ outages, storeFaults }) {
  oracle.enter('verdict')
  oracle.judgeUnanswered(outages)
  const deadline = Date.now() + drainMs
  while (mails.missing().length > 0 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 500))
  for (const { to, kind, at } of mails.missing()) {
    oracle.broken('lost mails', `${kind} to ${to}, promised ${Math.round((Date.now() - at) / 1000)} s ago`)
  }
  for (const { to, kind, documented } of mails.doubles([...outages, ...storeFaults])) {
    if (documented) oracle.odd('a mail came twice after a fault, as documented')
    else oracle.broken('mails doubled without reason', `${kind} to ${to}`)
  }
  await eachOf(people, stillThere)
  await used.judge()
  await revoked.judge()
}

/** Sessions that nobody ended refresh; accounts that were promised let their owners in. */
async function stillThere(person) {
  if (person.disabled && !person.disabledForSure) return
  if (person.signedIn) {
    const refreshed = async () => (await deeds.refresh(person)) || (person.signedIn ? null : false)
    if (await patiently(refreshed)) await deeds.guarded(person)
    else deeds.lost(person, 'the end: no refresh')
  }
  const entered = person.verified ? await patiently(() => deeds.signIn(person)) : true
  if (entered === null) oracle.broken('lost accounts', `the end: no sign-in (${person.email})`)
}

/** Null is no answer: it is tried again. */
async function patiently(work) {
  for (let tries = 0; tries < 10; tries += 1) {
    const outcome = await work()
    if (outcome !== null) return outcome
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  return null
}

async function eachOf(all, work) {
  const left = [...all]
  const lane = async () => {
    for (let next = left.pop(); next; next = left.pop()) await work(next)
  }
  await Promise.all(Array.from({ length: 8 }, lane))
}

function report() {
  const accounts = people.filter(({ verified }) => verified).length
  return { ...oracle.report(), mails: mails.counts(), accounts, revoked: revoked.count() }
}
