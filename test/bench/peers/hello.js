export function hello(_request, response) {
  response.json({ hello: 'world' })
}
