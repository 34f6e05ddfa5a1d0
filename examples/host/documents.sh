#!/bin/sh
# The data of a space from a script, with nothing but an admin token: import, index, query, export, backup, restore, undo.
#
#   export LATCHKEY_URL=https://admin.example.net LATCHKEY_ADMIN_TOKEN=... LATCHKEY_SPACE=dev
#   sh documents.sh products.jsonl products price
set -eu
file=$1 collection=$2 field=$3
# A new name in each run.
copy=copy-$(date +%s)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

latchkey import "$file" -c "$collection" --upsert
# A run before this one has left its index.
latchkey removeindex "$collection" "$field" 2>/dev/null || true
latchkey createindex "$collection" "$field"
latchkey query "$collection" --sort "$field" --limit 3

latchkey export "$collection" -f "$work/exported.jsonl"
latchkey backup -f "$work/space.tar.gz"

# Import and export change no byte.
latchkey import "$work/exported.jsonl" -c "$copy"
latchkey export "$copy" -f "$work/copy.jsonl"
cmp "$work/exported.jsonl" "$work/copy.jsonl"

# The backup is older than the copy.
latchkey restore "$work/space.tar.gz" --confirm "$LATCHKEY_SPACE"
latchkey export "$collection" -f "$work/restored.jsonl"
cmp "$work/exported.jsonl" "$work/restored.jsonl"
latchkey query "$copy" --count

# The data before the restore is in force again, the copy with it.
latchkey restore --undo
latchkey query "$copy" --count
