#!/usr/bin/env bash
# ripgrep 15.0.0: a file that core.excludesFile names is obeyed where ~/.gitconfig says it on a plain line, and is not where
# the path has a blank and stands in quotes, where a comment follows it, or where it stands in a file of [include].
#
# Expected: the manual says that rules of core.excludesFile are respected, and git obeys all four. Seen: the value is cut
# out of the text of that one file.
#
# Who meets it: whoever keeps a shared configuration and includes it, or has a blank in the path of the home folder. Files
# that git hides stand in each search, and an assistant reads them.
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
touch a.c x.tmp
echo '*.tmp' >"$HOME/rules"
printf '[core]\nexcludesFile = %s\n' "$HOME/rules" >"$HOME/shared"
line() { sort | tr '\n' ' ' | sed 's/ $//'; }
seen=""
try() {
  git=$(git ls-files --others --exclude-standard | line)
  theirs=$("$rg" --files | line)
  echo "$1: git: $git; ripgrep: $theirs"
  [ "$git" = a.c ] || { echo "changed: git"; exit 1; }
  seen="$seen$theirs;"
}
cp "$HOME/shared" "$HOME/.gitconfig"
try plain
cp "$HOME/rules" "$HOME/all rules"
printf '[core]\nexcludesFile = "%s"\n' "$HOME/all rules" >"$HOME/.gitconfig"
try quoted
printf '[core]\nexcludesFile = %s ; all machines\n' "$HOME/rules" >"$HOME/.gitconfig"
try comment
printf '[include]\npath = shared\n' >"$HOME/.gitconfig"
try included
[ "$seen" = "a.c;a.c x.tmp;a.c x.tmp;a.c x.tmp;" ] || { echo "changed: ripgrep"; exit 1; }
echo "as stated: ripgrep reads one of the four forms"
