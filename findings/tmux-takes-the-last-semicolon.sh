#!/usr/bin/env bash
# tmux 3.3a: `tmux send-keys -l TEXT` does not send a ";" that stands at the end of the text, and of "\;" there it sends the
# ";" alone.
#
# Expected: the manual says that -l takes the keys as literal characters, and the shell has handed the text over as one
# argument. Seen: the end of every argument is read as the end of a command of tmux before send-keys sees it: "one;" arrives as
# "one", "x {} \;" as "x {} ;". A ";" elsewhere, or with a blank behind it, arrives. There is no message, the exit code is 0.
#
# Who meets it: assistants and scripts that type into a terminal in tmux: find … -exec … {} \; ends with "missing argument to
# -exec", a statement of SQL waits for its end for ever, a line of C loses its semicolon. The text that was handed over is right.
set -euo pipefail
command -v tmux >/dev/null || { echo "tmux is not installed (Debian: tmux)"; exit 2; }
dir=$(mktemp -d)
export TMUX_TMPDIR=$dir
unset TMUX
trap 'tmux kill-server 2>/dev/null || true; rm -rf "$dir"' EXIT
tmux -f /dev/null new-session -d -s s "stty -echo; echo ready >'$dir/ready'; exec cat >'$dir/got'"
until [ -s "$dir/ready" ]; do sleep 0.1; done
for text in 'one;' 'two; ' 'a;b' 'x {} \;' 'x {} \\;' '-- ;;'; do
  tmux send-keys -t s -l -- "$text"
  tmux send-keys -t s Enter
done
tmux send-keys -t s -l end
tmux send-keys -t s Enter
until grep -q '^end$' "$dir/got"; do sleep 0.1; done
sed 's/$/|/' "$dir/got" | tee "$dir/out"
diff "$dir/out" - <<'END' || { echo "changed"; exit 1; }
one|
two; |
a;b|
x {} ;|
x {} \;|
-- ;|
end|
END
echo "as stated: a semicolon at the end is not sent"
