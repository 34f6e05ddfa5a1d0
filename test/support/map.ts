import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** `src/README.md` for a person on the first day, not a list of the tree. */
const mostLines = 180
/** In one paragraph: more of them are a list. */
const mostFiles = 3

/** Where the map is wrong, as sentences that name the cure. */
export function mapFaults(text: string, root: string): string[] {
  const paragraphs = paragraphsOf(text)
  return [
    ...lengthFaults(text),
    ...pictureFaults(text, root),
    ...paragraphs.flatMap((paragraph) => [...pathFaults(paragraph, root), ...listFaults(paragraph)]),
    ...roomFaults(paragraphs, root),
    ...functionFaults(text, root),
  ]
}

/** A paragraph, an item of a list, or a row of a table. */
interface Paragraph {
  text: string
  /** The room that it is about, below `src`: its first word, in bold. Empty for other paragraphs. */
  room: string
  /** The files and folders that it names. */
  paths: readonly string[]
  isRow: boolean
}

function paragraphsOf(text: string): Paragraph[] {
  const { prose } = partsOf(text)
  return prose.split(/\n(?=\n|- |\d+\. |\|)/).map((part) => {
    const [, room = ''] = /^\s*- \*\*`([\w/-]+)\/`\*\*/.exec(part) ?? []
    const spans = [...part.matchAll(/`([^`]+)`/g)].flatMap(([, span = '']) => span.split(' → '))
    const paths = spans.filter((span) => /^[\w.<>*/-]+(?:\/|\.(?:ts|js|json|md|hbs))$/.test(span))
    return { text: part, room, paths, isRow: part.startsWith('|') }
  })
}

function partsOf(text: string): { picture: string; prose: string } {
  const [before = '', picture = '', ...after] = text.split('```')
  return { picture, prose: before + after.join('') }
}

function lengthFaults(text: string): string[] {
  const lines = text.trimEnd().split('\n').length
  return lines <= mostLines ? [] : [`The map has ${lines} lines. It may have ${mostLines}: say less of each room.`]
}

/** The picture names everything at the top of `src`, and nothing else. */
function pictureFaults(text: string, root: string): string[] {
  const { picture } = partsOf(text)
  const drawn = [...picture.matchAll(/[\w-]+(?:\/|\.ts\b)/g)].map(([name]) => name)
  const top = readdirSync(join(root, 'src'), { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return foldersIn(root, '').includes(entry.name) ? [`${entry.name}/`] : []
    return /^[\w-]+\.ts$/.test(entry.name) ? [entry.name] : []
  })
  return [
    ...top.filter((name) => !drawn.includes(name)).map((name) => `The picture lacks ${name}. Put it on its floor.`),
    ...drawn.filter((name) => !top.includes(name)).map((name) => `The picture shows ${name}, which is not in src.`),
  ]
}

function pathFaults({ room, paths }: Paragraph, root: string): string[] {
  return paths.filter((path) => find(root, room, path) === null).map((path) => `The map names ${path}, which is gone.`)
}

/** Rows of «To add» name what a change touches, which may be many files. */
function listFaults({ text, paths, isRow }: Paragraph): string[] {
  const files = paths.filter((path) => !path.endsWith('/'))
  if (isRow || files.length <= mostFiles) return []
  return [
    `«${text.trim().slice(0, 40)}» names ${files.length} files. Name the one to read first: the tree is the list.`,
  ]
}

/** Each folder of `src` has a paragraph that names a file of it to read, and the folders in it. */
function roomFaults(paragraphs: readonly Paragraph[], root: string): string[] {
  const about = paragraphs.filter(({ room }) => room !== '')
  const named = new Set(about.flatMap(({ room, paths }) => paths.map((path) => find(root, room, path))))
  const rooms = foldersIn(root, '')
  return [
    ...rooms
      .filter((room) => !about.some((each) => each.room === room))
      .map((room) => `No paragraph is about ${room}.`),
    ...rooms
      .flatMap((room) => foldersIn(root, room).map((inner) => `${room}/${inner}`))
      .filter((room) => !named.has(join('src', room, '/')))
      .map((room) => `No paragraph describes ${room}. Name it in that of the room around it.`),
    ...about
      .filter(
        ({ room, text }) => !new RegExp(`Read \`${room}/[\\w./-]+\\.ts\` first`).test(text.replaceAll(/\s+/g, ' ')),
      )
      .map(({ room }) => `The paragraph about ${room} names no file of it to read first.`),
  ]
}

/** Functions are named as `login()`, so that they are found wherever they stand. */
function functionFaults(text: string, root: string): string[] {
  const names = [...text.matchAll(/`(\w+)\(\)`/g)].map(([, name = '']) => name)
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.ts$/.test(name),
  )
  const code = files.map((name) => readFileSync(join(root, 'src', name), 'utf8')).join('\n')
  return names
    .filter((name) => !new RegExp(`\\bfunction ${name}\\b|^ +${name}(?:\\(|: (?:async )?\\()`, 'm').test(code))
    .map((name) => `The map names ${name}(), which is gone.`)
}

/** The path from the root: in the room, in a room around it, in `src`, or in the repository; null when it is in none. */
function find(root: string, room: string, path: string): string | null {
  // `routes/<room>/x.ts`, `labels/*.json` and `000N-name.ts` stand for files to come: their folder exists.
  const known = path.replace(/(?<=^|\/)(?:<|\*|x\.|x-|000N).*$/, '')
  const around = room.split('/').map((_, index, parts) => parts.slice(0, parts.length - index).join('/'))
  const bases = [...around.map((each) => join('src', each)), 'src', '.']
  return bases.map((base) => join(base, known)).find((each) => existsSync(join(root, each))) ?? null
}

/** Folders in a folder of `src` that hold a file somewhere. */
function foldersIn(root: string, folder: string): string[] {
  const path = join(root, 'src', folder)
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .filter((name) =>
      readdirSync(join(path, name), { recursive: true, withFileTypes: true }).some((each) => each.isFile()),
    )
}
