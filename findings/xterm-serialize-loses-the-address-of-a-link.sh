#!/usr/bin/env bash
# @xterm/addon-serialize 0.14.0 with @xterm/headless 6.0.0: a link (OSC 8) comes out as underlined text, its address is gone.
# A wavy underline is a straight one, and its colour is gone.
#
# Expected: what is written back looks and works as it did, as colours and the other attributes come back; or the text of the
# link as it is, without a line. Seen: ESC[4m around a text that was never underlined; of ESC[4:3m ESC[58;5;1m there is
# ESC[4m.
#
# Who meets it: editors and servers that keep a terminal over a reload, or hand its screen to an assistant, by this package:
# links to files and pull requests are plain text afterwards, and spell checkers' marks look like links.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
mkdir -p "$HOME"
cd "$dir"
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error @xterm/addon-serialize@0.14.0 @xterm/headless@6.0.0 >/dev/null
cat >probe.mjs <<'END'
import serialize from '@xterm/addon-serialize'
import headless from '@xterm/headless'

for (const text of ['\x1b]8;;http://host/x\x1b\\link\x1b]8;;\x1b\\ end', '\x1b[4:3m\x1b[58;5;1mwavy\x1b[0m', '\x1b[1;31;44mred\x1b[0m', '\x1b[9;53mlines\x1b[0m']) {
  const terminal = new headless.Terminal({ cols: 20, rows: 2, allowProposedApi: true })
  await new Promise(done => terminal.write(text, done))
  const addon = new serialize.SerializeAddon()
  terminal.loadAddon(addon)
  console.log(JSON.stringify(text) + '\n  ' + JSON.stringify(addon.serialize()))
}
END
node probe.mjs | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
"\u001b]8;;http://host/x\u001b\\link\u001b]8;;\u001b\\ end"
  "\u001b[4mlink\u001b[0m end"
"\u001b[4:3m\u001b[58;5;1mwavy\u001b[0m"
  "\u001b[4mwavy\u001b[0m"
"\u001b[1;31;44mred\u001b[0m"
  "\u001b[31;44;1mred\u001b[0m"
"\u001b[9;53mlines\u001b[0m"
  "\u001b[53;9mlines\u001b[0m"
END
echo "as stated: a link is underlined text without an address"
