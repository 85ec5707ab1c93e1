#!/bin/sh
# tune_test.sh TOOL FOLDER: attune tune from end to end on a small spec. It is stopped, goes on from its log, records, and the
# record is what an emission then uses. No time matters but that there is enough for a trial.
set -eu
tool=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
options="article2_single_head --target avx2 --tables tables --cpu test-cpu"
must_say() { grep -q -- "$2" "$1" || { echo "$1 lacks \"$2\":"; cat "$1"; exit 1; }; }
log=tables/article2_single_head.avx2.jsonl

if ! "$tool" targets | awk '$1 == "avx2" { print $3 }' | grep -q yes; then
  echo "not run: avx2 does not run here"
  exit 77
fi

status=0
"$tool" tune article2_single_head --target avx2 --log log.jsonl --tables /proc/attune --time 10m > refused.txt 2>&1 || status=$? # before anything is tried
[ "$status" -eq 2 ] || { echo "tables that cannot be written: status $status, expected 2"; exit 1; }
must_say refused.txt "the folder /proc/attune/avx2 cannot be made: No such file or directory"

"$tool" tune $options --time 10m > stopped.txt 2>&1 &
process=$!
tried=0
while [ "$tried" -lt 2 ] && kill -0 "$process" 2> nowhere.txt; do
  sleep 0.2
  tried=$(cat "$log" 2> nowhere.txt | wc -l)
done
kill -TERM "$process" 2> nowhere.txt || : # it may have ended: its status says how
status=0
wait "$process" || status=$?
[ "$status" -eq 130 ] || { echo "a stopped run ended with $status, expected 130"; cat stopped.txt; exit 1; }
must_say stopped.txt "nothing is recorded"
must_say stopped.txt '--cpu says "test-cpu", and there is no table of such a CPU; .* a new table is made'
must_say stopped.txt "the same command goes on from it"
[ ! -e tables/avx2/test-cpu.json ] || { echo "a stopped run has recorded"; exit 1; }

"$tool" tune $options --time 6s > recorded.txt 2>&1
must_say recorded.txt "$log: goes on from [0-9]* trials"
must_say recorded.txt "default"
default=$(grep "1\.000  *default" recorded.txt | head -n 1 | sed 's/   */|/g' | cut -d '|' -f 3)
case $default in *query_tile=*) ;; *) echo "recorded.txt has no row of the default"; cat recorded.txt; exit 1 ;; esac
if grep -- "x the default: $default" stopped.txt recorded.txt; then echo "the default is shown as a gain over itself"; exit 1; fi
if grep -- "$default  *[0-9.]*$" stopped.txt; then echo "the default is shown as a number of times itself"; exit 1; fi
if "$tool" emit article2_single_head --target avx2 --out nothing --cpu test-cpu > nothing.txt 2>&1; then echo "a CPU without a table is accepted"; exit 1; fi
must_say recorded.txt "recorded in tables/avx2/test-cpu.json"
must_say tables/avx2/test-cpu.json '"spec": "attune::stock::article2_single_head"'
must_say "$log" '"status":"ok"'

"$tool" tune $options --time 6s --once > once.txt 2>&1
must_say once.txt "tuned already"

ATTUNE_TARGET=avx2 "$tool" tune article2_single_head --tables host_tables --cpu test-cpu --bucket prefill_short --time 2s > host.txt 2>&1
must_say host.txt "recorded in host_tables/avx2/test-cpu.json" # the target that calls take

"$tool" emit article2_single_head --target avx2 --out emitted --tables tables --cpu test-cpu > emitted.txt
must_say emitted.txt "(table avx2/test-cpu)"
