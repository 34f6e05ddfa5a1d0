/** The commands of the tool that an admin token of the host may be used for. */
export const adminCommands = [
  'deploy',
  'undeploy',
  'createindex',
  'removeindex',
  'backup',
  'restore',
  'import',
  'export',
  'query',
] as const

export type AdminCommand = (typeof adminCommands)[number]
