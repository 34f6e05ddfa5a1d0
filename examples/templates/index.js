// Pages and mails in your own words and shape, without a fork. The folder views/ holds only what differs from ours:
//   pages/forgot.hbs             a page: our layout around it, another text, another field order, whatever HTML you like
//   mail/verify/body.html.hbs    a mail: our layout and button around your text; its text part is ours still
//   mail/verify/subject.txt.hbs  the subject of that mail
//   labels/en.json               single texts of all other pages and mails, by the names in ours
// Ours to copy from are in node_modules/latchkey/templates. What a file may name (values, labels, layouts) is checked
// when the application starts: a mistake is told with its file and line. See them all, reloaded with each look:
//   node node_modules/latchkey/templates/preview.js --templates ./views --name Notes --accent '#7a2e8e'
// HTML mails of yours go out as they are: no style sheet is inlined, so keep styles in style attributes, or use the
// classes of our layout (button, box, code, quiet), which most mail programs honour.
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import express from 'express'
import { init } from 'latchkey'

const port = Number(process.env.PORT ?? 3000)
const app = express()
const auth = init(app, {
  baseUrl: `http://localhost:${port}`,
  // Made anew with each start, for a look at the pages; yours come from the environment.
  JWT_ACCESS_TOKEN_SECRET: randomBytes(32).toString('base64'),
  JWT_REFRESH_TOKEN_SECRET: randomBytes(32).toString('base64'),
  database: 'sqlite::memory:',
  templates: fileURLToPath(new URL('views', import.meta.url)),
  brand: { name: 'Notes', accentColor: '#7a2e8e' },
  password: { checkBreached: false }, // this example asks nobody outside; leave it on where people register
})
app.get('/api/hello', (req, res) => res.json({ hello: req.auth.email }))

const server = app.listen(port, 'localhost', () => console.log(`Open http://localhost:${port}/auth/forgot`))
process.once('SIGTERM', () => server.close(() => auth.close()))
