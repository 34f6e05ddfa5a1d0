import { shownSettings } from '../../../settings/shown-settings.js'
import { defineAdminPage } from './admin-page.js'

export const settingsPage = defineAdminPage({
  path: '/settings',
  at: 'settings',
  template: 'settings',
  summary: 'Shows the effective settings. Of secrets it shows only whether they are set.',
  async values({ settings }) {
    return { settings: Object.entries(shownSettings(settings)).flatMap(([name, value]) => rowsOf(name, value)) }
  },
})

interface Row {
  name: string
  value: string
  /** Shown in words instead of the value. */
  isUnset: boolean
  isEmpty: boolean
}

/** One row a value; a group of settings is a row for each of its members. */
function rowsOf(name: string, value: unknown): Row[] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return Object.entries(value).flatMap(([member, inner]) => rowsOf(`${name}.${member}`, inner))
  }
  const isUnset = value === null || value === undefined
  const isEmpty = value === '' || (Array.isArray(value) && value.length === 0)
  return [{ name, value: textOf(value), isUnset, isEmpty }]
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(', ')
  if (typeof value === 'string') return value
  return JSON.stringify(value) ?? ''
}
