const kept = []
for (;;) {
  kept.push(Buffer.alloc(8 * 1024 * 1024, 'x'))
  await new Promise((resolve) => setTimeout(resolve, 20))
}
