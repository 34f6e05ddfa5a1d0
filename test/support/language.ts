import ts from 'typescript'
import { lineOf, type Source, walk } from './house-source.js'

/** Phrases that make a sentence hard to read. Name the user, the client or the process, and what it does. */
const bannedPhrases = [
  'whoever',
  'whomever',
  'nobody',
  'somebody',
  'worth nothing',
  'lets in',
  'told of',
  'hands on',
] as const

/** A piece of a file, and the line that it begins in. */
interface Passage {
  line: number
  text: string
}

export interface Sentence {
  /** Of the paragraph or list item that holds it. */
  line: number
  text: string
  words: number
}

/** Between two words of a phrase: white space, also across the lines of a comment or a quotation. */
const gap = '(?:\\s|\\*|//|>)+'
const phrase = new RegExp(`\\b(?:${bannedPhrases.map((words) => words.replaceAll(' ', gap)).join('|')})\\b`, 'gi')

/** The banned phrases in a text, each as `path:line: phrase`. */
export function phraseFaults(path: string, text: string, firstLine = 1): string[] {
  return [...text.matchAll(phrase)].map((match) => {
    const line = firstLine + text.slice(0, match.index).split('\n').length - 1
    return `${path}:${line}: ${match[0].toLowerCase().replace(new RegExp(gap, 'g'), ' ')}`
  })
}

/** The banned phrases in the comments, strings and templates of a program. */
export function sourceFaults(source: Source): string[] {
  return [...commentsOf(source), ...stringsOf(source)].flatMap(({ line, text }) =>
    phraseFaults(source.path, text, line),
  )
}

/**
 * Every comment, as the scanner of TypeScript finds it: `//` in a string or a regular expression begins no comment. Lines
 * of `//` below each other are one comment.
 */
export function commentsOf({ text, tree }: Source): Passage[] {
  const found = new Map<number, number>()
  const keep = (ranges: readonly ts.CommentRange[] = []) => {
    for (const { pos, end } of ranges) found.set(pos, end)
  }
  const visit = (node: ts.Node) => {
    keep(ts.getLeadingCommentRanges(text, node.pos))
    keep(ts.getTrailingCommentRanges(text, node.end))
    for (const child of node.getChildren(tree)) if (!ts.isJSDoc(child)) visit(child)
  }
  visit(tree)
  const comments: { start: number; end: number }[] = []
  for (const [start, end] of [...found].sort(([a], [b]) => a - b)) {
    const last = comments.at(-1)
    if (last && text.startsWith('//', start) && /^\n[ \t]*$/.test(text.slice(last.end, start))) last.end = end
    else comments.push({ start, end })
  }
  return comments.map(({ start, end }) => ({
    line: tree.getLineAndCharacterOfPosition(start).line + 1,
    text: text.slice(start, end),
  }))
}

/** The text of every string and every part of a template. */
function stringsOf(source: Source): Passage[] {
  const found: Passage[] = []
  walk(source.tree, (node) => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      found.push({ line: lineOf(source, node), text: node.text })
    }
  })
  return found
}

/** Full stops that end no sentence. */
const abbreviations = /\b(?:e\.g|i\.e|etc|vs|cf|no)\.$/i

/**
 * The sentences of a Markdown text without its code blocks, tables, headings and HTML. Inline code and a link count as one
 * word each. A list item ends a sentence, also without a full stop.
 */
export function sentencesOf(markdown: string): Sentence[] {
  return passagesOf(markdown).flatMap(({ line, text }) =>
    split(plain(text)).map((sentence) => ({ line, text: sentence, words: wordsIn(sentence) })),
  )
}

/** Sentences that are longer than the bound, each as `path:line: n words: text`. */
export function longSentences(path: string, sentences: readonly Sentence[], most: number): string[] {
  return sentences
    .filter(({ words }) => words > most)
    .map(({ line, text, words }) => `${path}:${line}: ${words} words: ${text}`)
}

export function meanWords(sentences: readonly Sentence[]): number {
  return sentences.reduce((sum, { words }) => sum + words, 0) / sentences.length
}

/** Paragraphs and list items. */
function passagesOf(markdown: string): Passage[] {
  const passages: Passage[] = []
  let open: Passage | null = null
  let fence: string | null = null
  for (const [index, raw] of withoutHtmlComments(markdown).split('\n').entries()) {
    const [, mark = null] = /^\s*(?:>\s*)?(```+|~~~+)/.exec(raw) ?? []
    if (mark !== null && (fence === null || mark.startsWith(fence))) fence = fence === null ? mark : null
    const line = raw.replace(/^\s*>\s?/, '')
    if (mark !== null || fence !== null || isNoProse(line)) {
      open = null
      continue
    }
    const item = /^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ x]\]\s+)?/.exec(line)
    if (open === null || item !== null) {
      open = { line: index + 1, text: line.slice(item?.[0].length ?? 0) }
      passages.push(open)
    } else open.text += ` ${line.trim()}`
  }
  return passages
}

/** Blank lines, headings, rows of tables, rules, HTML, and targets of links. */
function isNoProse(line: string): boolean {
  return /^\s*(?:$|#{1,6}\s|\||(?:-{3,}|\*{3,}|_{3,})\s*$|<\/?[a-z]|\[[^\]]+\]:\s)/.test(line)
}

function withoutHtmlComments(markdown: string): string {
  return markdown.replace(/<!--[\s\S]*?-->/g, (comment) => comment.replace(/[^\n]/g, ''))
}

/** Code and links as one word each; emphasis without its marks. */
function plain(text: string): string {
  return text
    .replace(/(`+)(?:(?!\1).)+\1/g, 'CODE')
    .replace(/!?\[(?:[^[\]]|\[[^\]]*\])*\](?:\([^)]*\)|\[[^\]]*\])/g, 'LINK')
    .replace(/<https?:[^>]+>|https?:\/\/\S+[^\s.,;:)]/g, 'LINK')
    .replace(/\*\*|__|(?<!\w)[*_]|[*_](?!\w)/g, '')
}

function split(text: string): string[] {
  const sentences: string[] = []
  let start = 0
  for (const end of text.matchAll(/[.!?]["'”’»)\]]*(?=\s|$)/g)) {
    const stop = end.index + end[0].length
    const sentence = text.slice(start, stop).trim()
    if (abbreviations.test(sentence) && /^\s+[^A-Z\s]/.test(text.slice(stop))) continue
    sentences.push(sentence)
    start = stop
  }
  return [...sentences, text.slice(start).trim()].filter((sentence) => wordsIn(sentence) > 0)
}

/** What has a letter or a digit in it; a dash alone is no word. */
function wordsIn(sentence: string): number {
  return sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
}
