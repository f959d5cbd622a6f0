#!/usr/bin/env bash
# node-html-markdown 2.0.0: code that holds a fence ends its own block, a <pre> without <code> is plain text, code within a
# list gets two blanks at the end of each line, and a list that starts at 3 starts at 1.
#
# Expected: the fence is longer than the longest one inside, as turndown 7.2.5 makes it, run beside it; <pre> is a block of
# code, or its stars get a backslash, as by turndown; start="3" begins at 3. Seen: three backquotes around three backquotes,
# so that the rest of the code is Markdown; "a *b*" of a <pre> stands outside a fence and without a backslash; <br> in a cell
# joins two words.
#
# Who meets it: assistants that fetch pages and hand them to a model as Markdown by this package: pages about Markdown,
# prompts or commit messages lose the rest of a block, and the spaces at the ends of lines come back in the model's edit.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error node-html-markdown@2.0.0 turndown@7.2.5 >/dev/null
cat >probe.mjs <<'END'
import { NodeHtmlMarkdown } from 'node-html-markdown'
import Turndown from 'turndown'

const turndown = new Turndown({ codeBlockStyle: 'fenced' })
for (const html of [
  '<pre><code>a\n```\nb\n```\nc</code></pre>',
  '<pre>func f() {\n    a *b*\n}</pre>',
  '<ul><li><pre><code>x\n  y</code></pre></li></ul>',
  '<ol start="3"><li>a</li><li>b</li></ol>',
  '<table><tr><th>h</th></tr><tr><td>one<br>two</td></tr></table>',
]) {
  console.log(html)
  console.log('  node-html-markdown ' + JSON.stringify(NodeHtmlMarkdown.translate(html)))
  console.log('  turndown ' + JSON.stringify(turndown.turndown(html)))
}
END
node probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
<pre><code>a
```
b
```
c</code></pre>
  node-html-markdown "```\na\n```\nb\n```\nc\n```"
  turndown "````\na\n```\nb\n```\nc\n````"
<pre>func f() {
    a *b*
}</pre>
  node-html-markdown "func f() {\n    a *b*\n}"
  turndown "func f() {\n    a \\*b\\*\n}"
<ul><li><pre><code>x
  y</code></pre></li></ul>
  node-html-markdown "* ```  \nx  \n  y  \n```"
  turndown "*   ```\n    x\n      y\n    ```"
<ol start="3"><li>a</li><li>b</li></ol>
  node-html-markdown "1. a\n2. b"
  turndown "3.  a\n4.  b"
<table><tr><th>h</th></tr><tr><td>one<br>two</td></tr></table>
  node-html-markdown "| h      |\n| ------ |\n| onetwo |"
  turndown "h\n\none  \ntwo"
END
echo "as stated: a block of code is not whole"
