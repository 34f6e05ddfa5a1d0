import { expect, it } from 'vitest'
import { deviceLabel } from '../../src/lib/device-label.js'

it.each([
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36',
    'Chrome on Windows',
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0',
    'Edge on Windows',
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_0) AppleWebKit/605 (KHTML, like Gecko) Version/19 Safari/605',
    'Safari on macOS',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605 Version/19 Mobile Safari/604',
    'Safari on iPhone',
  ],
  ['Mozilla/5.0 (Android 16; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0', 'Firefox on Android'],
  ['curl/8.5.0', 'Unknown device'],
  ['<script>alert(1)</script>', 'Unknown device'],
  [null, 'Unknown device'],
])('calls %s %s', (userAgent, label) => {
  expect(deviceLabel(userAgent)).toBe(label)
})
