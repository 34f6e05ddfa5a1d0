export function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** Half the distance between the middle quarters, as a share of the median: how far to trust it. */
export function spread(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share) => sorted[Math.round(share * (sorted.length - 1))]
  return (at(0.75) - at(0.25)) / 2 / median(values)
}

/** The value that that share of all values does not exceed. */
export function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)]
}

export function shuffled(values) {
  return values
    .map((value) => ({ value, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ value }) => value)
}

/** Rows of cells as a Markdown table; the first row is the head. */
export function table(rows) {
  const cells = rows.map((row) => row.map(String))
  const widths = cells[0].map((_, column) => Math.max(...cells.map((row) => row[column].length)))
  const line = (row) =>
    `| ${row.map((cell, column) => (column ? cell.padStart(widths[column]) : cell.padEnd(widths[column]))).join(' | ')} |`
  const rule = `|${widths.map((width, column) => (column ? `${'-'.repeat(width + 1)}:` : '-'.repeat(width + 2))).join('|')}|`
  return [line(cells[0]), rule, ...cells.slice(1).map(line)].join('\n')
}

/** What each took: microseconds, the median and its spread. */
export function timings(title, samples) {
  const rows = Object.entries(samples).map(([name, values]) => [
    name,
    median(values).toFixed(2),
    `${(100 * spread(values)).toFixed(1)}%`,
  ])
  return table([[title, 'µs', '±'], ...rows])
}
