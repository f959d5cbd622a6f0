#!/usr/bin/env bash
# ripgrep 15.0.0: "{a,b}.c" in .gitignore hides a.c and b.c, which git tracks and shows, and does not hide the file of that
# very name, which git ignores.
#
# Expected: braces are plain characters in gitignore's patterns; ripgrep's manual says that it honours these files as git
# does. Seen: they are alternatives, as in ripgrep's own -g.
#
# Who meets it: whoever wrote such a line in the belief that it works. git shows no effect, so it stays there for years,
# and each search by ripgrep, an editor's or an assistant's, leaves out files that are part of the project.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false GIT_CONFIG_NOSYSTEM=1 RIPGREP_CONFIG_PATH=
mkdir -p "$HOME" "$dir/project"
case $(uname -m) in x86_64) arch=x64 ;; aarch64) arch=arm64 ;; *) echo "no package for $(uname -m)"; exit 2 ;; esac
npm install --prefix "$dir/npm" --no-audit --no-fund --ignore-scripts --loglevel=error \
  "@vscode/ripgrep-linux-$arch@1.18.0" ignore@7.0.17 >/dev/null
rg="$dir/npm/node_modules/@vscode/ripgrep-linux-$arch/bin/rg"
chmod +x "$rg"
cd "$dir/project"
"$rg" --version | head -1
git --version
git init -q .
touch a.c b.c '{a,b}.c'
echo '{a,b}.c' >.gitignore
line() { sort | tr '\n' ' ' | sed 's/ $//'; }
git=$(git ls-files --others --exclude-standard | grep -v gitignore | line)
theirs=$("$rg" --files | line)
package=$(printf '%s\n' a.c b.c '{a,b}.c' | NODE_PATH="$dir/npm/node_modules" node -e '
  const rules = require("ignore")().add(require("fs").readFileSync(".gitignore", "utf8"))
  console.log(require("fs").readFileSync(0, "utf8").trim().split("\n").filter(f => !rules.ignores(f)).join("\n"))' | line)
echo "git: $git"
echo "ripgrep: $theirs"
echo "ignore 7.0.17 of npm: $package"
fail() { echo "changed: $*"; exit 1; }
[ "$git" = "a.c b.c" ] || fail "git"
[ "$theirs" = "{a,b}.c" ] || fail "ripgrep"
echo "as stated: each shows what the other hides"
