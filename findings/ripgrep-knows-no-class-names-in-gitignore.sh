#!/usr/bin/env bash
# ripgrep 15.0.0: "[[:digit:]]*.log" in .gitignore hides nothing, where git ignores 1.log, and "build<TAB>" hides build,
# where git ignores nothing: it strips blanks from the end of a line, and no tab.
#
# Expected: ripgrep's manual says that it honours these files as git does, and gitignore's patterns are those of fnmatch,
# with names of classes. Seen: brackets end at the first "]", and all white space at the end of a line is stripped.
#
# Who meets it: projects whose rules name rotated logs or generated files by a class; they come up in each search.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" XDG_CONFIG_HOME="$dir/none" NPM_CONFIG_UPDATE_NOTIFIER=false GIT_CONFIG_NOSYSTEM=1 RIPGREP_CONFIG_PATH=
mkdir -p "$HOME" "$dir/project"
case $(uname -m) in x86_64) arch=x64 ;; aarch64) arch=arm64 ;; *) echo "no package for $(uname -m)"; exit 2 ;; esac
npm install --prefix "$dir/npm" --no-audit --no-fund --ignore-scripts --loglevel=error "@vscode/ripgrep-linux-$arch@1.18.0" >/dev/null
rg="$dir/npm/node_modules/@vscode/ripgrep-linux-$arch/bin/rg"
chmod +x "$rg"
cd "$dir/project"
"$rg" --version | head -1
git --version
git init -q .
touch 1.log a.log build
line() { sort | tr '\n' ' ' | sed 's/ $//'; }
fail() { echo "changed: $*"; exit 1; }
try() {
  printf "$1" >.gitignore
  git=$(git ls-files --others --exclude-standard | grep -v gitignore | line)
  theirs=$("$rg" --files | line)
  echo "git: $git; ripgrep: $theirs"
  [ "$git" = "$2" ] || fail "git"
  [ "$theirs" = "$3" ] || fail "ripgrep"
}
try '[[:digit:]]*.log\n' "a.log build" "1.log a.log build"
try 'build\t\n' "1.log a.log build" "1.log a.log"
echo "as stated: git and ripgrep hide different files"
