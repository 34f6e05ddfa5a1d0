// A token such as other packages are given to verify: the claims of ours, HS256.
import { randomBytes } from 'node:crypto'
import jwt from 'jsonwebtoken'

export const secret = randomBytes(48).toString('base64url')

const claims = { sid: 'aWQtb2YtdGhlLXNlc3Npb24', email: 'ada@example.com', email_verified: true, roles: [] }
const token = jwt.sign(claims, secret, { algorithm: 'HS256', subject: 'aWQtb2YtdGhlLXVzZXI', expiresIn: '2h' })

export const credentials = { cookie: { cookie: `token=${token}` }, bearer: { authorization: `Bearer ${token}` } }
