#!/usr/bin/env bash
# Linux 6.18, overlay mounted inside a user namespace with userxattr,index=on over ext4: the mount succeeds, and the index
# is off all the same. A file with two names is parted from its second name as soon as one of them is written to.
#
# Expected: the option is refused, or it works: index=on is what keeps hard links together when a file is copied up, and
# ext4 can all that it asks for. Seen: exit code 0; the options of the mount in /proc/self/mountinfo lack index=on (only the
# kernel's log says "falling back to index=off"); after one name is appended to, the other has the old content, each has an
# inode of its own, and the copy in the upper folder has no attribute that says which file it came from.
#
# Who meets it: makers of sandboxes that lay an overlay over a project without root, and their users where hard links are
# common: pnpm's node_modules (one file, many names), git clones of a local folder, backups.
#
# Needs Linux that lets a user make namespaces, and ext4 under the temporary folder; it says so and ends with 0 where not.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir" 2>/dev/null || unshare -Ur rm -rf "$dir"' EXIT
[ "$(uname -s)" = Linux ] || { echo "not tried: this is no Linux"; exit 0; }
unshare -Urm true 2>/dev/null || { echo "not tried: user namespaces are refused here"; exit 0; }
[ "$(stat -f -c %T "$dir")" = ext2/ext3 ] || { echo "not tried: the temporary folder is not on ext4"; exit 0; }
echo "Linux $(uname -r)"
cat >"$dir/inside" <<'END2'
set -euo pipefail
cd "$1"
mkdir lower upper work merged
echo one >lower/a
ln lower/a lower/b
mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work,userxattr,index=on merged 2>/dev/null || { echo "mount: refused"; exit 0; }
echo "mount: ok"
echo "options: $(awk '$5 ~ /merged$/ { print $NF }' /proc/self/mountinfo | sed 's/.*workdir=work,//')"
echo "before: $(stat -c '%h names' merged/a), same inode $([ merged/a -ef merged/b ] && echo yes || echo no)"
echo two >>merged/a
echo "after: a is $(tr '\n' ' ' <merged/a)and b is $(tr '\n' ' ' <merged/b)"
echo "after: same inode $([ merged/a -ef merged/b ] && echo yes || echo no)"
if command -v getfattr >/dev/null; then
  echo "attributes: $(getfattr --absolute-names -d -m - upper/a | grep overlay || echo none)"
fi
END2
unshare -Urm bash "$dir/inside" "$dir" | tee "$dir/out"
fail() { echo "changed: $*"; exit 1; }
grep -q '^mount: ok' "$dir/out" || fail "the mount is refused"
! grep -q '^options: .*index=on' "$dir/out" || fail "the index is on"
grep -q '^before: 2 names, same inode yes$' "$dir/out" || fail "the names differ before anything is written"
grep -q '^after: a is one two and b is one $' "$dir/out" || fail "the second name has the new content"
grep -q '^after: same inode no$' "$dir/out" || fail "both names are one file"
! grep -q '^attributes: .*origin="\?.' "$dir/out" || fail "the copy says where it came from"
echo "as stated: index=on was taken and is off, and a file with two names became two files"
