import { AuthError } from '../../../errors.js'
import { readStanding } from '../../../flows/account/read.js'
import { isRecentSignIn, requireAdmin } from '../../../flows/control/require-admin.js'
import { enrolUrl, withReturnTo } from '../../../http/landing.js'
import type { HttpResponse } from '../../../http/message.js'
import { adminPagePath } from '../../../http/placed-route.js'
import { html, redirect } from '../../../http/problem.js'
import { changedQuery, queryOf } from '../../../http/query.js'
import { defineRoute, type Route, type RouteContext, type SignedIn } from '../../../http/route.js'
import { filledPath } from '../../../http/route-table.js'
import { controlPath } from '../../../model/control-path.js'
import type { HomeName } from '../../../model/home.js'
import type { Right } from '../../../model/right.js'
import { inSpace, placeOf } from '../caller.js'
import { type AdminSection, linksIn, navigationOf, spaceNavigation } from './navigation.js'
import { outcomesIn } from './outcomes.js'

/** What an admin page may use: everything that a route has, and the administrator, or in the host a member. */
export interface AdminContext extends RouteContext {
  admin: SignedIn
  right: Right
}

/** A page for administrators. */
export interface AdminPage {
  /** Below `/admin`; `:name` stands for one segment. */
  path: string
  /** Default: both. `space`: in an application, and in the host below `/spaces/:space`, about that space. */
  home?: HomeName | 'space'
  /** Default: administrators. A member sees the page without its forms, unless `forms` says otherwise. */
  who?: 'member'
  forms?: 'member'
  /** The entry of the navigation that it belongs to. */
  at: AdminSection
  summary: string
  /** Query parameters that it reads besides the outcome of its forms. */
  query?: Readonly<Record<string, string>>
  /** The values of its template `admin/<template>.hbs`. */
  template: string
  /** Whether it shows mails, whose styles are inline. */
  showsMails?: true
  /** Whether our script asks for the page again. */
  refreshes?: true
  values(context: AdminContext): Promise<Readonly<Record<string, unknown>>>
}

/** Checks the visitor as the API does, without asking for a recent sign-in: its forms ask for one. */
export function defineAdminPage(page: AdminPage): Route {
  return defineRoute({
    method: 'GET',
    path: `/admin${page.path}`,
    ...(page.path === '' && { aliases: ['/admin/'] }),
    limit: 'admin',
    body: null,
    signedIn: true,
    control: {
      home: page.home ?? 'both',
      who: page.who ?? 'admin',
      recent: false,
      confirm: false,
      command: null,
      page: true,
    },
    summary: page.summary,
    ...(page.query && { query: page.query }),
    enabled: ({ admin }) => admin.enabled && admin.page !== null,
    async handle(context) {
      const session = await context.session()
      const rule = { who: page.who ?? 'admin', recent: false } as const
      let right: Right
      try {
        right = await requireAdmin(context.ports, session.principal, rule)
      } catch (error) {
        return refused(context, session, page, error)
      }
      const { ports, visitor } = await inSpace(context, session.visitor)
      const signedIn = { ...context, ports, right, admin: { ...session, visitor } }
      return showAdminPage(signedIn, page, await page.values(signedIn))
    },
  })
}

/** Members of a host begin with the list of its spaces. */
async function refused(
  context: RouteContext,
  session: SignedIn,
  page: AdminPage,
  fault: unknown,
): Promise<HttpResponse> {
  if (!(fault instanceof AuthError)) throw fault
  if (fault.code === 'two_factor_enrolment_required') return toSecondFactor(context, session, page)
  if (fault.code === 'forbidden' && page.path === '' && context.ports.rights.of(session.principal) === 'MEMBER') {
    return redirect(303, `${adminPathOf(context)}/spaces`)
  }
  throw fault
}

/** To the set-up of a second factor; with one set up, the session has not proved it and its user signs in again. */
async function toSecondFactor(context: RouteContext, admin: SignedIn, page: AdminPage): Promise<HttpResponse> {
  const { user } = await readStanding(context.ports, admin.principal)
  const here = pagePath(context, page)
  if (!user.twoFactor) return redirect(303, enrolUrl(context.authPath, here))
  const right = context.ports.rights.of(admin.principal) ?? 'MEMBER'
  return showAdminPage({ ...context, admin, right }, { ...page, template: 'sign-in-again' }, {}, 403)
}

/** The page inside the layout of all admin pages. Its response is also that of a form whose result no address may hold. */
export async function showAdminPage(
  context: AdminContext,
  page: Pick<AdminPage, 'path' | 'at' | 'template' | 'forms' | 'showsMails' | 'refreshes'>,
  values: Readonly<Record<string, unknown>>,
  status = 200,
): Promise<HttpResponse> {
  const { templates, settings, authPath, ports, admin, right, request } = context
  const given = queryOf(request)
  const { user, hasPasskey } = await readStanding(ports, admin.principal)
  const adminPath = adminPathOf(context)
  const stale = !isRecentSignIn(ports, admin.principal)
  const canConfirm = settings.passkeys.enabled && hasPasskey && (stale || page.template === 'sign-in-again')
  await templates.prepare()
  const text = templates.page(`admin/${page.template}`, {
    error: given.get('error') ?? '',
    reasons: [],
    ...values,
    basePath: authPath,
    adminPath,
    placePath: `${adminPath}${filledPath(placeOf(context, ''), context.params)}`,
    apiPath: `${authPath}${controlPath}${filledPath(placeOf(context, ''), context.params)}`,
    readOnly: right !== 'ADMIN',
    formsOff: right !== 'ADMIN' && page.forms !== 'member',
    me: user.email,
    pageName: `admin.nav.${page.at}`,
    ...navigationValues(context, page.at, adminPath),
    search: given.get('query') ?? '',
    startUrl: settings.redirectSuccessUrl,
    outcomes: outcomesIn(given),
    stale,
    passkeys: canConfirm,
    hasPasskey: canConfirm,
    confirmedUrl: pagePath(context, page),
    signInAgainUrl: withReturnTo(settings.redirectFailUrl, pagePath(context, page)),
  })
  return html(status, text, {
    formOrigins: settings.trustedOrigins,
    inlineStyles: page.showsMails === true,
    ownRequests: page.refreshes === true || canConfirm,
  })
}

/** The links to the other pages, and inside a space of the host those to the pages of the space. */
function navigationValues({ ports, right, params }: AdminContext, at: AdminSection, adminPath: string) {
  const { space = '' } = ports.home === 'host' ? params : {}
  const isInSpace = space !== ''
  return {
    navigation: linksIn(navigationOf(ports.home, right), { below: adminPath, at: isInSpace ? 'spaces' : at }),
    space,
    spaceNavigation: isInSpace ? linksIn(spaceNavigation(right), { below: `${adminPath}/spaces/${space}`, at }) : [],
  }
}

/** The admin pages as the client sees them. */
function adminPathOf({ settings, authPath }: Pick<RouteContext, 'settings' | 'authPath'>): string {
  return `${authPath}${adminPagePath(settings) ?? ''}`
}

/** Where the client sees a page. */
export function pagePath(context: RouteContext, { path }: Pick<AdminPage, 'path'>): string {
  return `${adminPathOf(context)}${filledPath(placeOf(context, path), context.params)}`
}

/** A page of a list, and the links to its neighbours, which keep the other parameters of the query. */
export function listed<Item>(
  context: RouteContext,
  { items, nextCursor }: { items: Item[]; nextCursor: string | null },
) {
  const outcome = { error: null, done: null, at: null, fields: null }
  const linked = (cursor: string | null) => changedQuery(context.request, { ...outcome, cursor }) || '?'
  const isFirst = !queryOf(context.request).has('cursor')
  return {
    items,
    pager: { first: isFirst ? '' : linked(null), next: nextCursor === null ? '' : linked(nextCursor) },
  }
}
