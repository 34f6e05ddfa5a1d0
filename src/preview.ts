/** What `templates/preview.js` of the package shows pages and mails with. No door of package.json. */
export { SettingsError } from './errors.js'
export { createTemplates } from './templates/handlebars.js'
export { samples } from './templates/samples.js'
