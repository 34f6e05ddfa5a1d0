import { choiceIn, type Fields, fieldsIn, listIn, nullOr, numberIn, textIn } from '../../lib/json-fields.js'
import { isObject } from '../../lib/json-object.js'
import type { Address } from '../address.js'
import type { HomeDescription, SpaceAddress } from '../home.js'
import { ToolError } from '../tool-error.js'
import { type Client, path } from './calls.js'

/** Where the tokens and access settings of a home are: in the host, each space has its own. */
export interface Scope {
  /** Asked once. @throws {ToolError} `not_here` when there is no control API */
  describe(): Promise<HomeDescription>
  /** The name of the space. Null in an application. */
  space(): Promise<string | null>
  /** The path of a space's route, as it is in this home. */
  below(target: string): Promise<string>
}

export function createScope(client: Client, { site }: Address, chooseSpace: () => string): Scope {
  let asked: Promise<HomeDescription> | null = null

  async function ask(): Promise<HomeDescription> {
    try {
      return await client.call({ method: 'GET', path: '/' }, (fields) => readDescription(fields, site))
    } catch (error) {
      if (!(error instanceof ToolError) || error.details.status !== 404) throw error
      throw new ToolError(4, 'not_here', `${site} has no control API. Set admin.emails in its settings.`)
    }
  }

  const describe = () => {
    asked ??= ask()
    return asked
  }
  const space = async () => ((await describe()).home === 'host' ? chooseSpace() : null)
  return {
    describe,
    space,
    async below(target) {
      const name = await space()
      return name === null ? target : `${path('spaces', name)}${target}`
    },
  }
}

/** What a home says of itself. Older hosts say less of their spaces. */
function readDescription(fields: Fields, url: string): HomeDescription {
  const home = choiceIn(fields, 'home', ['application', 'host'])
  const isToken = home === 'host' && isObject(fields.adminToken)
  return {
    home,
    version: textIn(fields, 'version'),
    url,
    user: isToken ? null : readUser(fieldsIn(fields, 'user')),
    ...(home === 'host' && {
      project: textOrNull(fields, 'project') ?? 'default',
      spaces: fields.spaces === undefined ? [] : listIn(fields, 'spaces', readSpaceAddress),
    }),
  }
}

function readUser(user: Fields): NonNullable<HomeDescription['user']> {
  return {
    id: textIn(user, 'id'),
    email: textIn(user, 'email'),
    name: nullOr(user, 'name', textIn),
    right: textIn(user, 'right'),
  }
}

function readSpaceAddress(space: Fields): SpaceAddress {
  return {
    name: textIn(space, 'name'),
    url: textOrNull(space, 'url'),
    release: space.release === undefined ? null : nullOr(space, 'release', numberIn),
  }
}

/** A field that may also be missing. */
function textOrNull(fields: Fields, name: string): string | null {
  return fields[name] === undefined ? null : nullOr(fields, name, textIn)
}
