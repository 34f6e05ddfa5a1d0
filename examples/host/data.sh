#!/bin/sh
# The data of a space from a script, with nothing but an admin token: import, index, query, export, backup, restore, undo.
#
#   export LATCHKEY_URL=https://admin.example.net LATCHKEY_ADMIN_TOKEN=... LATCHKEY_SPACE=dev
#   sh data.sh products.jsonl products price
set -eu
file=$1 collection=$2 field=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

latchkey import "$file" -c "$collection"
latchkey createindex "$collection" "$field"
latchkey query "$collection" --sort "$field" --limit 3

latchkey export "$collection" -f "$work/exported.jsonl"
latchkey backup -f "$work/space.tar.gz"

# Import and export change no byte.
latchkey import "$work/exported.jsonl" -c "$collection" --upsert
latchkey export "$collection" -f "$work/again.jsonl"
cmp "$work/exported.jsonl" "$work/again.jsonl"

latchkey query "$collection" --delete --yes
latchkey restore "$work/space.tar.gz" --confirm "$LATCHKEY_SPACE"
latchkey export "$collection" -f "$work/restored.jsonl"
cmp "$work/exported.jsonl" "$work/restored.jsonl"

# The data before the restore, which is empty, is in force again.
latchkey restore --undo
latchkey query "$collection" --count
