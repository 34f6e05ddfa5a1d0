/** @param url of the application, or of the space */
export function exampleLines(url: string): string[] {
  const route = `${url}/<route>`
  return [
    '',
    'With an API token, server side only:',
    `  curl -H 'x-apikey: <API_KEY>' '${route}'`,
    `  curl '${route}?apikey=<API_KEY>'`,
    'With a JWT of the identity provider:',
    `  curl -H 'Authorization: Bearer <JWT>' '${route}'`,
  ]
}
