/** Where a control API runs: in one application, or in the host of many. */
export type HomeName = 'application' | 'host'

/** The usual names of a host's settings, in the order of the search. */
export const hostConfigNames = ['latchkey.host.json', 'latchkey.host.js', 'latchkey.host.mjs']
