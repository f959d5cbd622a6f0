#!/usr/bin/env bash
# git 2.39.5 and 2.55: with branch.autoSetupMerge set to false or inherit, "git checkout NAME" and "git switch NAME" of a branch
# that one remote has make a branch without upstream. "git checkout -b NAME --track REMOTE/NAME" makes one with it.
#
# Expected: the manual calls the first "equivalent to" the second, and gives autoSetupMerge to what is made without --track.
# Seen: the guess is made without --track, so the setting counts. "inherit" warns that "no remote is set", of a branch that
# it found at a remote, and ends with 0.
#
# Who meets it: whoever set "inherit" or "false" for branches of their own and then takes over a colleague's: "git pull" has
# nothing to pull from, "git status" never says "behind", and a tool that made the branch says that it is tracked.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.com
mkdir "$HOME"
cd "$dir"
git --version
git init -q --bare -b main up
git init -q -b main ours
cd ours
git commit -q --allow-empty -m one
git remote add origin ../up
git push -q origin HEAD:main HEAD:far
upstream() {
  git checkout -q main
  git branch -q -D far 2>/dev/null || true
  git -c branch.autoSetupMerge="$1" "${@:2}" >/dev/null 2>&1
  git for-each-ref --format='%(upstream:short)' refs/heads/far
}
fail() { echo "changed: $*"; exit 1; }
for setting in true simple false inherit; do
  guess=$(upstream $setting checkout far) other=$(upstream $setting switch far)
  track=$(upstream $setting checkout -b far --track origin/far)
  echo "$setting: checkout far '$guess', switch far '$other', checkout -b far --track origin/far '$track'"
  case $setting in true | simple) want=origin/far ;; *) want= ;; esac
  [ "$guess" = "$want" ] && [ "$other" = "$want" ] || fail "a branch that was guessed, with $setting"
  [ "$track" = origin/far ] || fail "a branch with --track, with $setting"
done
echo "as stated: a branch that git guesses has an upstream only as branch.autoSetupMerge says"
