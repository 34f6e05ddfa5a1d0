// Writes llms.txt, an index of docs/ for language models (https://llmstxt.org).
// The index is docs/README.md in that format. Part of the build; the same pages always give the same file.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('..', import.meta.url)
const read = (/** @type {string} */ path) => readFileSync(new URL(path, root), 'utf8').replaceAll('\r\n', '\n')

const link = /\[([^\]]+)\]\(([\w/-]+\.md)\)/

/** A row of a table: a link, and what the page is about. */
const row = /^\| \[([^\]]+)\]\(([\w/-]+\.md)\) \| (.*) \|$/

/**
 * The sections of docs/README.md, each page once, in their order.
 *
 * @returns {{ title: string, pages: { name: string, path: string, about: string }[] }[]}
 */
function sections() {
  const [, ...parts] = read('docs/README.md').split(/^## /m)
  return parts.map((part) => {
    const [title = '', ...lines] = part.split('\n')
    return { title, pages: lines.flatMap((line) => pagesIn(line)) }
  })
}

/** @param {string} line */
function pagesIn(line) {
  const [, name, path, about] = row.exec(line) ?? []
  if (name !== undefined && path !== undefined) return [{ name, path, about: withoutLinks(about ?? '') }]
  return [...line.matchAll(new RegExp(link, 'g'))].map(([, other = '', to = '']) => ({
    name: other,
    path: to,
    about: '',
  }))
}

/** @param {string} text */
function withoutLinks(text) {
  return text.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
}

/** The text of llms.txt. */
export function llmsIndex() {
  const { name, description } = JSON.parse(read('package.json'))
  const title = `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`
  const lists = sections().map(({ title: section, pages }) => {
    const items = pages.map((page) => `- [${page.name}](docs/${page.path})${page.about && `: ${page.about}`}\n`)
    return `\n## ${section}\n\n${items.join('')}`
  })
  return `# ${title}\n\n> ${description}\n${lists.join('')}`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL('llms.txt', root), llmsIndex())
}
