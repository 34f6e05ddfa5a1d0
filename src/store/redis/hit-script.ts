import { createHash } from 'node:crypto'

/**
 * Counts one hit on each of the counters `KEYS`, or on none, in one atomic script. It computes the same as
 * `store/sql/counters.ts`; one contract suite tests both. Times are the caller's Unix seconds. ARGV: now, then for each
 * counter limit, window, wait, limit and length of the long window; −1 for a part that its rule does not have. It returns
 * counted (1 or 0), and the first counter's remaining and resetsAt; when one is full, the time when all have room. Full
 * counters are only read.
 *
 * The expiry is relative to the server's own clock and has a minute to spare, so that processes whose clocks differ a little
 * agree on the end of a window.
 */
export const hitScript = `
local now = tonumber(ARGV[1])
local counters, fullUntil = {}, 0
for index, key in ipairs(KEYS) do
  local first = index * 5 - 3
  local limit, window, wait = tonumber(ARGV[first]), tonumber(ARGV[first + 1]), tonumber(ARGV[first + 2])
  local longLimit, longWindow = tonumber(ARGV[first + 3]), tonumber(ARGV[first + 4])
  local row = redis.call('HMGET', key, 'hits', 'ends', 'longHits', 'longEnds')
  local hits, ends = tonumber(row[1] or 0), tonumber(row[2] or 0)
  local longHits, longEnds = tonumber(row[3] or 0), tonumber(row[4] or 0)

  if ends > now and hits >= limit then fullUntil = math.max(fullUntil, ends) end
  if longLimit >= 0 and longEnds > now and longHits >= longLimit then fullUntil = math.max(fullUntil, longEnds) end

  if ends <= now then hits, ends = 0, now + window end
  hits = hits + 1
  if wait >= 0 and hits >= limit then ends = now + wait end
  if longLimit >= 0 then
    if longEnds <= now then longHits, longEnds = 0, now + longWindow end
    longHits = longHits + 1
  end
  counters[index] = {hits = hits, ends = ends, longHits = longHits, longEnds = longEnds}
end
if fullUntil > 0 then return {0, 0, fullUntil} end

for index, key in ipairs(KEYS) do
  local at = counters[index]
  redis.call('HSET', key, 'hits', at.hits, 'ends', at.ends, 'longHits', at.longHits, 'longEnds', at.longEnds)
  redis.call('EXPIRE', key, string.format('%.0f', math.max(at.ends, at.longEnds) - now + 60))
end
return {1, math.max(tonumber(ARGV[2]) - counters[1].hits, 0), counters[1].ends}
`

/** The server's name of the script (EVALSHA). The protocol fixes SHA-1; no security depends on it. */
export const hitScriptSha = createHash('sha1').update(hitScript).digest('hex')
