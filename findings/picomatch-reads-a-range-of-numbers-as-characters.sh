#!/usr/bin/env bash
# picomatch 4.0.7, and micromatch 4.0.8 with its own: "{1..12}" matches 1 and 2 alone, and "v{8..10}" matches v8, v1 and v0.
# The numbers of a range are put into a class of characters, "[1-12]".
#
# Expected: the numbers from 1 to 12, as bash and minimatch 11.0.9 have it, run beside it; or no match at all. Seen: ranges of
# single digits and letters are right ("{1..3}", "{a..e}"), so that a pattern works until there are ten of them; "v{8..10}"
# takes v0, which is not meant, and leaves v9 and v10 out. No error. micromatch's own braces("{8..10}", {expand: true}) is
# right, and so is picomatch with a function of one's own (expandRange).
#
# Who meets it: build tools and assistants whose patterns of files go through these packages (many of npm's do): shards,
# chapters or migrations from 10 on are not found, and others are.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error picomatch@4.0.7 micromatch@4.0.8 minimatch@11.0.9 >/dev/null
cat >probe.mjs <<'END'
import { execFileSync } from 'node:child_process'
import micromatch from 'micromatch'
import { minimatch } from 'minimatch'
import picomatch from 'picomatch'

const names = ['v0', 'v1', 'v2', 'v5', 'v8', 'v9', 'v10', 'v12']
for (const range of ['{1..2}', '{1..12}', '{8..10}', '{9..12}']) {
  const pattern = 'v' + range
  const of = match => names.filter(match).join(' ')
  const words = execFileSync('bash', ['-c', 'echo ' + pattern]).toString().trim().split(' ')
  console.log(pattern)
  console.log('  bash       ' + of(name => words.includes(name)))
  console.log('  minimatch  ' + of(name => minimatch(name, pattern)))
  console.log('  picomatch  ' + of(name => picomatch(pattern)(name)))
  console.log('  micromatch ' + of(name => micromatch.isMatch(name, pattern)))
}
console.log(micromatch.braces('v{8..10}', { expand: true }).join(' '))
END
node probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
v{1..2}
  bash       v1 v2
  minimatch  v1 v2
  picomatch  v1 v2
  micromatch v1 v2
v{1..12}
  bash       v1 v2 v5 v8 v9 v10 v12
  minimatch  v1 v2 v5 v8 v9 v10 v12
  picomatch  v1 v2
  micromatch v1 v2
v{8..10}
  bash       v8 v9 v10
  minimatch  v8 v9 v10
  picomatch  v0 v1 v2 v5 v8
  micromatch v0 v1 v2 v5 v8
v{9..12}
  bash       v9 v10 v12
  minimatch  v9 v10 v12
  picomatch  v1 v2 v5 v8 v9
  micromatch v1 v2 v5 v8 v9
v8 v9 v10
END
echo "as stated: a range of numbers is a class of characters"
