#!/bin/sh
# Replays both traces under quotas and prints the table of docs/space.md.
#
#   docs/space.sh TRACES OUT [REPLAY OPTION...]
#   docs/space.sh --table OUT     prints what is there, and runs nothing
#
# TRACES holds the recorded traces. Each run's report is put into OUT, and a run whose report is
# there already is not run again. SEGTOOL names another segtool than this tree's.
set -eu

[ $# -ge 2 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
traces=$1
out=$2
shift 2
root=$(CDPATH='' cd -P "$(dirname "$0")/.." && pwd)
segtool=${SEGTOOL:-$root/tools/bin/segtool}
mkdir -p "$out"

# A field of a report.
field() {
  sed -n "s/^ *\"$2\" : \([0-9.]*\),*\$/\1/p" "$out/$1.json"
}

# run NAME TRACE OPTION...: a report that is whole, or none.
run() {
  name=$1
  trace=$2
  shift 2
  [ ! -s "$out/$name.json" ] || return 0
  # Not quoted: SEGTOOL may be a command with options.
  # shellcheck disable=SC2086
  $segtool replay "$traces/$trace" --scale 1024 --json "$@" >"$out/$name.part" 2>"$out/$name.err" || {
    cat "$out/$name.err" >&2
    exit 1
  }
  mv "$out/$name.part" "$out/$name.json"
}

row() {
  name=$1
  shift
  [ -s "$out/$name.json" ] || return 0
  awk -v head="$*" -v total="$(field "$name" blocks_total)" -v hit="$(field "$name" blocks_hit)" \
    -v restored="$(field "$name" blocks_restored)" -v written="$(field "$name" written_bytes)" \
    -v allocated="$(field "$name" allocated_bytes)" -v refused="$(field "$name" requests_refused)" \
    -v evicted="$(field "$name" evicted_blocks)" -v wrong="$(field "$name" mismatches)" \
    -v ratio="$(field "$name" write_amplification)" 'BEGIN {
      mib = 1048576
      printf "| %s | %.2f%% | %.2f%% | %.1f | %.1f | %d | %d | %.4f | %d |\n", head,
        100 * hit / total, 100 * restored / total, written / mib, allocated / mib,
        evicted, refused, ratio, wrong
    }'
}

# for_each FUNCTION TRACE FILE LAYOUT PUNCHING: calls it for every quota and score.
for_each() {
  unique=$(field "$2-all" allocated_bytes)
  for percent in 50 20 5; do
    for eviction in lru recompute; do
      option=
      [ "$5" = yes ] || option=--no-punch
      name=$2-$percent-$eviction-$5
      if [ "$1" = run ]; then
        # shellcheck disable=SC2086
        run "$name" "$3" --layout "$4" --quota $((unique / 100 * percent)) --eviction "$eviction" \
          $option $more
      else
        row "$name" "$2 | $percent% | $eviction | $5"
      fi
    done
  done
}

# both FUNCTION PUNCHING
both() {
  for_each "$1" coding coding-sessions.jsonl.gz L4 "$2"
  for_each "$1" chat mooncake-conversation.jsonl.gz L3 "$2"
}

more=$*
if [ "$traces" != --table ]; then
  # shellcheck disable=SC2086
  {
    run coding-all coding-sessions.jsonl.gz --layout L4 --quota 64GiB $more
    run chat-all mooncake-conversation.jsonl.gz --layout L3 --quota 64GiB $more
  }
  both run yes
  both run no
fi

echo '| trace | quota | eviction | punching | blocks hit | restored | written, MiB | allocated, MiB | blocks evicted | requests refused | write amplification | mismatches |'
echo '|---|---|---|---|---|---|---|---|---|---|---|---|'
row coding-all 'coding | none | - | yes'
row chat-all 'chat | none | - | yes'
both row yes
both row no
