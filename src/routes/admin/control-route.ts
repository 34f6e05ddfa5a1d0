import type { z } from 'zod'
import type { AdminCommand } from '../../contract/admin-command.js'
import type { HttpResponse } from '../../http/message.js'
import { adminPagePath } from '../../http/placed-route.js'
import { redirect } from '../../http/problem.js'
import { type ControlRule, defineRoute, type Route, type RouteContext, type SignedIn } from '../../http/route.js'
import { filledPath } from '../../http/route-table.js'
import { whileAllowed } from '../../http/streams/while-allowed.js'
import { controlPath } from '../../model/control-path.js'
import type { Right } from '../../model/right.js'
import {
  type AskedOfCaller,
  type Caller,
  inSpace,
  placeOf,
  refuseAnyAdminToken,
  requireCaller,
  requireSession,
  stillAllowed,
} from './caller.js'
import type { DoneCode } from './pages/outcomes.js'

/** A route of the control API, however its caller is known. */
interface DescribedRoute<Schema extends z.ZodType, Context>
  extends Pick<Route<Schema>, 'method' | 'body' | 'summary' | 'answers' | 'errors' | 'query' | 'enabled' | 'streams'>,
    Partial<Omit<ControlRule, 'who' | 'adminToken'>> {
  /** Below `/admin/api`; the empty path is its root. */
  path: string
  who: 'admin' | 'member'
  /** The admin page whose form posts here. Without it, a form gets the answer of a program. */
  form?: ControlForm<Extract<keyof z.input<Schema>, string>>
  /** Where only some requests need a recent sign-in: whether this one does. */
  needsRecent?(body: z.output<Schema>): boolean
  handle(context: Context, body: z.output<Schema>): Promise<HttpResponse>
}

/** A route of the control API for a signed-in administrator. */
export type ControlRoute<Schema extends z.ZodType = z.ZodType> = DescribedRoute<Schema, ControlContext>

/** A route that admin tokens of the host may call too, for one of their commands. */
export interface TokenRoute<Schema extends z.ZodType = z.ZodType> extends DescribedRoute<Schema, CallerContext> {
  /** `any`: each admin token may call it. */
  adminToken: AdminCommand | 'any'
}

/** A section of an admin page. `page`: its path below `/admin`. */
interface FormPlace {
  page: string
  section: string
}

/** How a form of an admin page is answered: with a 303 to its page, unless the route has an answer of its own. */
export interface ControlForm<Field extends string = string> {
  /** Its path below `/admin`; it may name segments of the route's path. */
  page: string
  /** The section of that page that shows the outcome. */
  section: string
  /** The outcome: a label `admin.done.<done>`. */
  done?: DoneCode | ((answer: HttpResponse) => DoneCode)
  /** Where a success is shown instead, when the page is gone then. */
  donePage?: FormPlace | ((answer: HttpResponse) => FormPlace | null)
  /** Fields of the body that the page shows again when the form is refused. */
  keeps?: readonly Field[]
  /** The route answers a success itself: where `asPage` is set, with a page; no address may hold a secret. */
  ownAnswer?: true
}

/** What such a route may use: everything that a route has, and the administrator. */
export interface ControlContext extends RouteContext {
  admin: SignedIn
  right: Right
  /** A form of an admin page sent the request, so its answer is a page. */
  asPage: boolean
  /** Rejects once the caller may not call the route any more. For long transfers; `upload` calls it itself. */
  still(): Promise<void>
}

/** The same where the caller may be an admin token. */
export interface CallerContext extends RouteContext {
  caller: Caller
  asPage: boolean
  still(): Promise<void>
}

/** A route of the control API that needs no credential. */
export interface OpenRoute<Schema extends z.ZodType = z.ZodType>
  extends Pick<Route<Schema>, 'method' | 'path' | 'body' | 'summary' | 'answers' | 'errors' | 'handle'> {
  who: 'open'
  command: string
}

/** The sign-in of the tool: it exists where the admin pages do, because an administrator approves it there. */
export function defineOpenRoute<Schema extends z.ZodType>({ path, who, command, ...route }: OpenRoute<Schema>): Route {
  return defineRoute<Schema>({
    ...route,
    path: `${controlPath}${path}`,
    limit: 'guess',
    control: { home: 'both', who, recent: false, confirm: false, command },
    enabled: ({ admin }) => admin.enabled && admin.page !== null,
    async handle(context, body) {
      // An admin token is never less than it is: it gets its own refusal.
      await refuseAnyAdminToken(context, { method: route.method, path })
      return route.handle(context, body)
    },
  })
}

/** Checks the caller before the route runs. Without `admin.enabled` the route is a 404. */
export function defineControlRoute<Schema extends z.ZodType>(route: ControlRoute<Schema>): Route {
  return assembled<Schema, ControlContext>(route, undefined, async (context, asked, asPage) => {
    const caller = await requireSession(context, asked)
    const { principal, right, visitor } = caller
    const inside = await inSpace(context, visitor)
    const admin = { principal, visitor: inside.visitor }
    return { ...context, ...lasting(context, caller, asked), ports: inside.ports, admin, right, asPage }
  })
}

/** The same for a route that admin tokens may call. */
export function defineTokenRoute<Schema extends z.ZodType>(route: TokenRoute<Schema>): Route {
  return assembled<Schema, CallerContext>(route, route.adminToken, async (context, asked, asPage) => {
    const { ports, caller } = await requireCaller(context, { ...asked, command: route.adminToken })
    return { ...context, ...lasting(context, caller, asked), ports, caller, asPage }
  })
}

function lasting(context: RouteContext, caller: Caller, asked: AskedOfCaller): Pick<CallerContext, 'still' | 'upload'> {
  const still = stillAllowed(context, caller, asked)
  return { still, upload: (limitBytes) => whileAllowed(context.upload(limitBytes), still) }
}

type Enter<Context> = (context: RouteContext, asked: AskedOfCaller, asPage: boolean) => Promise<Context>

/** @param enter judges the caller, and gives the route what it may use */
function assembled<Schema extends z.ZodType, Context>(
  route: DescribedRoute<Schema, Context>,
  adminToken: AdminCommand | 'any' | undefined,
  enter: Enter<Context>,
): Route {
  const { method, path, body, summary, who, recent = false, confirm = false, home = 'both', command = null } = route
  const { answers, query, needsRecent, form, streams, errors = [] } = route
  const mayNeedRecent = recent || needsRecent !== undefined
  return defineRoute<Schema>({
    method,
    path: `${controlPath}${path}`,
    ...(path === '' && { aliases: [`${controlPath}/`] }),
    limit: 'admin',
    body,
    signedIn: true,
    control: { home, who, recent, confirm, command, ...(adminToken !== undefined && { adminToken }) },
    summary,
    ...(form && { page: `/admin${form.page}`, section: form.section, keepsOnError: form.keeps ?? [] }),
    errors: [
      'two_factor_enrolment_required',
      ...(mayNeedRecent ? (['recent_login_required'] as const) : []),
      ...errors,
    ],
    ...(answers && { answers }),
    ...(query && { query }),
    ...(streams && { streams }),
    enabled: (settings) => settings.admin.enabled && (route.enabled?.(settings) ?? true),
    async handle(context, parsed) {
      const place = adminPagePath(context.settings)
      const asPage = context.form && form !== undefined && place !== null
      const asked = { method, path, who, recent: recent || needsRecent?.(parsed) === true }
      const answer = await route.handle(await enter(context, asked, asPage), parsed)
      return asPage && !form.ownAnswer ? redirect(303, afterForm(context, form, { place, answer })) : answer
    },
  })
}

/** The page that shows a success of the form. */
function afterForm(
  context: RouteContext,
  form: Omit<ControlForm, 'keeps'>,
  { place, answer }: { place: string; answer: HttpResponse },
): string {
  const { authPath, params } = context
  const { page, section } = (typeof form.donePage === 'function' ? form.donePage(answer) : form.donePage) ?? form
  const code = typeof form.done === 'function' ? form.done(answer) : form.done
  const done = code === undefined ? '' : `?done=${code}&at=${section}`
  return `${authPath}${place}${filledPath(placeOf(context, page), params)}${done}#${section}`
}
