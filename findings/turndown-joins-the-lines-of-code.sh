#!/usr/bin/env bash
# turndown 7.2.5: the lines of a code block that are parted by <br>, or are each a <div>, come out as one line.
#
# Expected: a fence with the lines that a browser shows; <br> outside of code becomes a line end in the same result. Seen:
# "make" <br> "make test" in <pre><code> becomes "makemake test", two lines as div become one, with no blank between them;
# line ends in the text itself are kept.
#
# Who meets it: assistants that turn a page into Markdown for a model by this package. Editors of wikis and forums and some
# highlighters write code so; a comment then swallows the line behind it, and two commands become one that is no command.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error turndown@7.2.5 >/dev/null
cat >probe.mjs <<'END'
import Turndown from 'turndown'

const turndown = new Turndown({ codeBlockStyle: 'fenced' })
for (const html of [
  '<pre><code>make<br>make test</code></pre>',
  '<pre><code><div># first</div><div>make</div></code></pre>',
  '<pre><code>make\nmake test</code></pre>',
  '<p>make<br>make test</p>',
]) console.log(JSON.stringify(turndown.turndown(html)))
END
node probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
"```\nmakemake test\n```"
"```\n# firstmake\n```"
"```\nmake\nmake test\n```"
"make  \nmake test"
END
echo "as stated: what <br> and <div> part in code is one line"
