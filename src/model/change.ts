/**
 * One row of the change feed: something that every process must know within a second.
 *
 * `session`: the session ended. `user`: access tokens of that user below `version` are dead. `api_token`: that token was
 * changed or removed. `setting`: that setting of access was changed at run time. In the space host, `right`: rights or teams
 * were changed; `admin_token`: that admin token was changed or removed.
 *
 * The subject is an id or the name of a setting. Of a space's token or setting it is `<scope>/<id>`.
 */
export interface Change {
  id: string
  /** Milliseconds of the store's clock. */
  atMs: number
  kind: 'session' | 'user' | 'api_token' | 'setting' | 'right' | 'admin_token'
  subject: string
  version: number | null
  /** Unix seconds after which no token lives that this row could concern. */
  until: number
}
