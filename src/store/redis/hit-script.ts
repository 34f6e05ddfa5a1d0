import { createHash } from 'node:crypto'

/**
 * One hit on the counter `KEYS[1]`, decided and written in one go: the same arithmetic as `store/sql/counters.ts`, held to
 * it by one contract. Times are Unix seconds of the caller. ARGV: now, limit, window, wait, limit and length of the long
 * window; −1 for what the rule does not have. Answers counted (1 or 0), remaining, resetsAt. A full counter is only read.
 *
 * The expiry is counted from now by the server's own clock and has a minute to spare, so that processes whose clocks
 * differ a little agree on the end of a window.
 */
export const hitScript = `
local now, limit, window, wait = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local longLimit, longWindow = tonumber(ARGV[5]), tonumber(ARGV[6])
local row = redis.call('HMGET', KEYS[1], 'hits', 'ends', 'longHits', 'longEnds')
local hits, ends = tonumber(row[1] or 0), tonumber(row[2] or 0)
local longHits, longEnds = tonumber(row[3] or 0), tonumber(row[4] or 0)

local fullUntil = 0
if ends > now and hits >= limit then fullUntil = ends end
if longLimit >= 0 and longEnds > now and longHits >= longLimit then fullUntil = math.max(fullUntil, longEnds) end
if fullUntil > 0 then return {0, 0, fullUntil} end

if ends <= now then hits, ends = 0, now + window end
hits = hits + 1
if wait >= 0 and hits >= limit then ends = now + wait end
if longLimit >= 0 then
  if longEnds <= now then longHits, longEnds = 0, now + longWindow end
  longHits = longHits + 1
end

redis.call('HSET', KEYS[1], 'hits', hits, 'ends', ends, 'longHits', longHits, 'longEnds', longEnds)
redis.call('EXPIRE', KEYS[1], string.format('%.0f', math.max(ends, longEnds) - now + 60))
return {1, math.max(limit - hits, 0), ends}
`

/** How a server names the script (EVALSHA): SHA-1 is the protocol's, nothing rests on it. */
export const hitScriptSha = createHash('sha1').update(hitScript).digest('hex')
