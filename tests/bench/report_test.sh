#!/usr/bin/env bash
# The page of a run: every row, plots, what was left out; a file of another kind is refused and no page is written.
# usage: report_test.sh PYTHON REPORT.PY RUN.JSON FOLDER     ends with 77 where PYTHON (scripts/report makes it) is not there
set -euo pipefail
python=$1 report=$2 run=$3 folder=$4
[ -x "$python" ] || { echo "not run: $python is not there; scripts/report makes it"; exit 77; }
rm -rf "$folder"

"$python" -B "$report" "$run" "$folder"
for expected in 'causal/f32/avx512/12x64/512' 'decode/f32/avx512/12:12x64/16384/t2' '<svg' '0.800' '1.91 ×' '1.0023' '<td class=number>2</td><td class=number>1</td>' 'other &lt;peer&gt;' 'class="behind"' 'AMD EPYC' 'its answer is wrong' 'this machine lacks it'; do
  grep -qF -- "$expected" "$folder/report.html" || { echo "report.html lacks: $expected"; exit 1; }
done
[ "$(grep -o 'class="behind"' "$folder/report.html" | wc -l)" = 1 ] || { echo "one row is behind a peer"; exit 1; }
[ "$(ls -A "$folder")" = report.html ] || { echo "other files were left: $(ls -A "$folder")"; exit 1; }

rm "$folder/report.html"
echo '{"benchmarks": []}' >"$folder/other.json"
if "$python" -B "$report" "$folder/other.json" "$folder" 2>"$folder/said"; then echo "a file of another kind was taken"; exit 1; fi
grep -q 'is no output of `attune bench --json`' "$folder/said"
[ ! -e "$folder/report.html" ]
