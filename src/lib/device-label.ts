const systems: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]

/** The order matters: most browsers also name the ones they descend from. */
const browsers: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\b(?:Headless)?Chrome\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]

/** Browser and system of a user agent, by our own names; null for those that we do not know. */
export interface Device {
  browser: string | null
  system: string | null
}

/** Mails show no host name: mail clients make links of them. */
export function deviceOf(userAgent: string): Device {
  if (toolName.test(userAgent)) return { browser: 'latchkey', system: null }
  return { browser: firstIn(browsers, userAgent), system: firstIn(systems, userAgent) }
}

/**
 * A name for a device that its owner recognises. It is made from the user agent, but only of our own names and the
 * host name of a machine that our own tool runs on.
 *
 * @example deviceLabel('Mozilla/5.0 (X11; Linux x86_64) … Chrome/140.0 Safari/537.36') // 'Chrome on Linux'
 */
export function deviceLabel(userAgent: string | null): string {
  if (toolName.test(userAgent ?? '')) return userAgent ?? ''
  const { browser, system } = deviceOf(userAgent ?? '')
  if (browser && system) return `${browser} on ${system}`
  return browser ?? system ?? 'Unknown device'
}

/** Our own tool names its machine. */
const toolName = /^latchkey on [\w.-]{1,64}$/

function firstIn(names: typeof systems, userAgent: string): string | null {
  return names.find(([pattern]) => pattern.test(userAgent))?.[1] ?? null
}
