import { trimBlanks } from '../lib/http-blanks.js'

/**
 * The best content coding of ours that a request accepts (RFC 9110 §12.5.3): brotli before gzip, null for neither.
 * A coding with `q=0` is refused. `*` and other weights are ignored: every browser names its codings.
 *
 * @example acceptedEncoding('gzip, deflate, br') // 'br'
 */
export function acceptedEncoding(header: string | readonly string[] | undefined): 'br' | 'gzip' | null {
  const accepted = [header ?? '']
    .flat()
    .join(',')
    .toLowerCase()
    .split(',')
    .map((part) => part.split(';').map((piece) => trimBlanks(piece)))
    .filter(([, weight = '']) => !/^q=0(?:\.0*)?$/.test(weight))
    .map(([coding]) => coding)
  if (accepted.includes('br')) return 'br'
  return accepted.includes('gzip') ? 'gzip' : null
}
