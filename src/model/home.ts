/** Where a control API runs: in one application, or in the host of many. */
export type HomeName = 'application' | 'host'
