import type { Settings } from '../settings.js'

/** Says in the log which settings this release reads but leaves out. */
export function warnLeftOut(settings: Settings): void {
  for (const setting of leftOut(settings)) {
    settings.logger.warn({ event: 'setting_ignored', setting }, 'This setting takes effect in a later release.')
  }
}

function leftOut(settings: Settings): string[] {
  const { admin } = settings
  const asked: Readonly<Record<string, boolean>> = {
    'admin.emails': admin.emails.length > 0,
  }
  return Object.keys(asked).filter((setting) => asked[setting])
}
