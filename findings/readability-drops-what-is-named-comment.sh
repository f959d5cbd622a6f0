#!/usr/bin/env bash
# @mozilla/readability 0.6.0: the comments of a code block are dropped where they are marked class="comment" in a <pre> without
# <code>; so are a term of a list of definitions and a heading whose anchor is called "footer", "header" or "related".
#
# Expected: a reader's view takes whole blocks away (comments of readers, the foot of a page), and leaves text and code as they
# are; pre as code has it, where nothing is dropped. Seen: "// set first" is gone from the code, an empty line is in its place;
# the definition stands without its term; the section goes on without its heading. In <pre><code> the comment stays.
#
# Who meets it: assistants that hand a page of documentation to a model by this package. Generators that colour code in a bare
# <pre> lose "# never in production", and pages of settings lose the names of the settings; the rest looks whole.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error @mozilla/readability@0.6.0 linkedom@0.18.12 >/dev/null
cat >probe.mjs <<'END'
import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'

const text = '<p>' + 'This paragraph tells, with commas, how it works, and what it does, when it is set. '.repeat(4) + '</p>'
const show = part => {
  const { document } = parseHTML(`<html><body><main><article><h1>Head</h1>${text}${part}${text}${text}</article></main></body></html>`)
  const { content } = new Readability(document).parse()
  console.log(JSON.stringify(content.split(/<p>This[^<]*<\/p>/)[1].trim()))
}
show('<pre><span class="comment"># never in production</span>\n<span class="word">run</span>()</pre>')
show('<pre><code><span class="comment"># never in production</span>\n<span class="word">run</span>()</code></pre>')
show('<dl><dt id="option-footer">footer</dt><dd>what it prints last</dd><dt id="option-size">size</dt><dd>how much</dd></dl>')
show('<h2 id="related-options">Related options</h2><p>One.</p><h2 id="other-options">Other options</h2><p>Two.</p>')
END
node probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
"<pre>\n<span>run</span>()</pre>"
"<pre><code><span># never in production</span>\n<span>run</span>()</code></pre>"
"<dl><dd>what it prints last</dd><dt id=\"option-size\">size</dt><dd>how much</dd></dl>"
"<p>One.</p><h2 id=\"other-options\">Other options</h2><p>Two.</p>"
END
echo "as stated: comments in code, a term and a heading are gone"
