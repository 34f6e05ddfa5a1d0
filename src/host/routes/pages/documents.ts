import { AuthError } from '../../../errors.js'
import type { HttpResponse } from '../../../http/message.js'
import { redirect } from '../../../http/problem.js'
import type { Route } from '../../../http/route.js'
import { type AdminContext, defineAdminPage, pagePath, showAdminPage } from '../../../routes/admin/pages/admin-page.js'
import type { NamedCollection } from '../../flows/collections/find-collection.js'
import { listCollections } from '../../flows/collections/find-collection.js'
import { createIndexes } from '../../flows/collections/indexes.js'
import type { CollectionPorts } from '../../flows/collections/ports.js'
import { changesDocuments, queryCollection, type SentQuery } from '../../flows/collections/query.js'
import { type AskedRows, type FoundRows, findRows, rowsOfPage } from './document-rows.js'
import { requireEdited } from './edited-document.js'

const place = { path: '/data/:c', at: 'collections', template: 'documents' } as const

/** A document in its text field. `isTooLarge`: a form cannot send it. */
interface Editor {
  filter: string
  version: string
  text: string
  isTooLarge: boolean
}

/** A body has at most 64 KiB. The other fields of the form need some of it. */
const mostFormBytes = 60_000
const everything: AskedRows = { filter: '', sort: '', offset: 0 }

export function documentsPage(ports: () => CollectionPorts): Route {
  return defineAdminPage({
    ...place,
    home: 'space',
    summary:
      'Shows the documents of a collection by a filter; edits and deletes one; downloads all; builds and removes indexes.',
    values: (context) => foundValues(context, ports(), everything),
  })
}

/** Answers a form of the page with the page itself: no address holds a filter or a document. */
export async function answerDocuments(
  context: AdminContext,
  ports: CollectionPorts,
  sent: SentQuery,
): Promise<HttpResponse> {
  const asked = { filter: textOf(sent.filter), sort: textOf(sent.sort), offset: sent.offset ?? 0 }
  try {
    const isChange = changesDocuments(sent)
    if (isChange) await change(context, ports, sent)
    if (sent.delete) return redirect(303, `${pagePath(context, place)}?done=document_deleted&at=documents#documents`)
    return await showAdminPage(context, place, { ...(await foundValues(context, ports, asked)), saved: isChange })
  } catch (error) {
    if (!(error instanceof AuthError) || error.status === 404) throw error
    context.report(error)
    return showAdminPage(context, place, await refusedValues(context, ports, { asked, sent, error }), error.status)
  }
}

/** Builds the indexes of the form, and answers with the page: no address holds why it was refused, or what was typed. */
export async function answerIndexes(
  context: AdminContext,
  ports: CollectionPorts,
  sent: { fields: readonly string[]; unique: boolean },
): Promise<HttpResponse> {
  try {
    const { run } = await createIndexes(ports, named(context), sent)
    await run(() => {})
    return redirect(303, `${pagePath(context, place)}?done=index_built&at=indexes#indexes`)
  } catch (error) {
    if (!(error instanceof AuthError) || error.status === 404) throw error
    context.report(error)
    const indexForm = { fields: sent.fields.join(', '), isUnique: sent.unique, refused: error.message }
    const values = { ...(await foundValues(context, ports, everything)), indexForm }
    return showAdminPage(context, place, values, error.status)
  }
}

/** To its end. */
async function change(context: AdminContext, ports: CollectionPorts, sent: SentQuery): Promise<void> {
  if (sent.replace !== undefined) requireEdited(textOf(sent.replace), textOf(sent.filter))
  for await (const _part of await queryCollection(ports, named(context), sent));
}

async function foundValues(context: AdminContext, ports: CollectionPorts, asked: AskedRows) {
  const found = await findRows(ports, named(context), asked)
  const [row] = found.rows
  const whole = row?.whole ?? null
  const editor =
    row === undefined || whole === null
      ? null
      : { filter: row.filter, version: row.version, text: whole, isTooLarge: formBytes(whole) > mostFormBytes }
  return { ...(await commonValues(context, ports, asked)), ...listValues(found, asked), editor }
}

/** A refused form keeps what was typed. */
async function refusedValues(
  context: AdminContext,
  ports: CollectionPorts,
  { asked, sent, error }: { asked: AskedRows; sent: SentQuery; error: AuthError },
) {
  const { filter } = asked
  const text = textOf(sent.replace)
  const isTyped = sent.replace !== undefined
  const editor: Editor | null = isTyped
    ? { filter, version: String(sent.ifVersion ?? ''), text, isTooLarge: false }
    : null
  return {
    ...(await commonValues(context, ports, asked)),
    ...{ editor, rows: [], previous: '', next: '' },
    fault: { isConflict: error.code === 'not_current', detail: error.message },
  }
}

async function commonValues(context: AdminContext, ports: CollectionPorts, asked: AskedRows) {
  const { space, collection, visitor } = named(context)
  const known = (await listCollections(ports, { space, visitor })).find(({ name }) => name === collection)
  return {
    collection,
    asked: { filter: asked.filter, sort: asked.sort },
    count: String(known?.count ?? 0),
    indexes: known?.indexes.map(({ field, isUnique, state }) => ({
      field,
      isUnique,
      isBuilding: state === 'building',
    })),
    exportPath: known === undefined ? '' : `/collections/${collection}/export?download=true`,
    queryCommand: `query ${collection}`,
    queryAction: `/collections/${collection}/query`,
    indexAction: `/collections/${collection}/indexes`,
    fault: { isConflict: false, detail: '' },
    indexForm: { fields: '', isUnique: false, refused: '' },
    saved: false,
  }
}

function listValues({ rows, hasMore }: FoundRows, { offset }: AskedRows) {
  return {
    rows: rows.map(({ whole: _whole, ...row }) => row),
    from: String(offset + 1),
    to: String(offset + rows.length),
    previous: offset > 0 ? String(Math.max(0, offset - rowsOfPage)) : '',
    next: hasMore ? String(offset + rowsOfPage) : '',
  }
}

function named({ params, admin }: AdminContext): NamedCollection {
  return { space: params.space ?? '', collection: params.c ?? '', visitor: admin.visitor }
}

/** Forms send texts. */
function textOf(sent: unknown): string {
  return typeof sent === 'string' ? sent : ''
}

function formBytes(text: string): number {
  return String(new URLSearchParams({ replace: text })).length
}
