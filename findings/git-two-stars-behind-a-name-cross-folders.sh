#!/usr/bin/env bash
# git 2.39.5 and 2.55.0: in a pathspec, ":(glob)src**/*.js" reaches any depth, while the wider ":(glob)*src**/*.js" finds
# less: only what lies directly in a folder whose name begins so.
#
# Expected: gitignore's manual says that two stars which do not stand between slashes are plain stars, so that "src**/*.js"
# is "src*/*.js", and a star put before a pattern never finds less. Seen: git compares the plain beginning "src" apart, and
# what is left, "**/*.js", stands at a beginning and crosses folders. In .gitignore and .gitattributes 2.39.5 does the same;
# 2.55.0 reads the plain star there, so within it ":(glob)" and .gitignore differ for one pattern. The package ignore 7.0.17
# reads the plain star as well.
#
# Who meets it: whoever leaves out the slash before the stars. An assistant that reads ignore rules by a package shows files
# that git hides, and after an upgrade of git files appear as untracked that were ignored for years.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false GIT_CONFIG_NOSYSTEM=1
mkdir -p "$HOME" "$dir/project"
npm install --prefix "$dir/npm" --no-audit --no-fund --ignore-scripts --loglevel=error ignore@7.0.17 >/dev/null
cd "$dir/project"
version=$(git --version | awk '{ print $3 }')
git init -q .
mkdir -p src/deep/er srcs
touch src/a.js src/deep/b.js src/deep/er/c.js srcs/d.js
git add .
line() { tr '\n' ' ' | sed 's/ $//'; }
glob() { git ls-files ":(glob)$1" | line; }
ignored() {
  echo "$1" >.gitignore
  git ls-files | git check-ignore --no-index --stdin | line
  rm .gitignore
}
package() {
  git ls-files | NODE_PATH="$dir/npm/node_modules" node -e '
    const rules = require("ignore")().add(process.argv[1])
    console.log(require("fs").readFileSync(0, "utf8").trim().split("\n").filter(f => rules.ignores(f)).join(" "))' "$1"
}
narrow=$(glob 'src**/*.js') wide=$(glob '*src**/*.js') one=$(glob 'src*/*.js') rules=$(ignored 'src**/*.js') js=$(package 'src**/*.js')
echo "git $version"
echo "glob src**/*.js: $narrow"
echo "glob *src**/*.js: $wide"
echo "glob src*/*.js: $one"
echo ".gitignore src**/*.js: $rules"
echo "the package, src**/*.js: $js"
fail() { echo "changed: $*"; exit 1; }
[ "$one" = 'src/a.js srcs/d.js' ] || fail "one star"
[ "$narrow" = 'src/a.js src/deep/b.js src/deep/er/c.js srcs/d.js' ] || fail "two stars behind a name"
[ "$wide" = "$one" ] || fail "two stars behind a star and a name"
[ "$js" = "$one" ] || fail "the package"
case $version in
2.39.*) [ "$rules" = "$narrow" ] || fail ".gitignore" ;;
2.55.*) [ "$rules" = "$one" ] || fail ".gitignore" ;;
esac
echo "as stated: two stars behind a name cross folders, and the wider pattern finds less"
