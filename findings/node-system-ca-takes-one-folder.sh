#!/usr/bin/env bash
# node 24.21.0: --use-system-ca takes SSL_CERT_DIR for one folder, where OpenSSL and Go take a list parted by ":".
#
# Expected: the certificates of both folders are trusted, as with --use-openssl-ca, openssl, curl, python and Go. Seen: the
# whole value is opened as one folder, "Cannot open directory A:B", and none of the system's authorities is there. With one
# folder it is the other way round: plain names of files are enough for --use-system-ca and for Go, while OpenSSL wants
# names that are hashes.
#
# Who meets it: a programmer behind a company's proxy whose SSL_CERT_DIR names the system's folder and the company's. One
# setting serves git, curl and python, and leaves a program of node without any authority.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"; [ -z "${server:-}" ] || kill "$server"' EXIT
fail() { echo "changed: $*"; exit 1; }
npm install --prefix "$dir/npm" --no-audit --no-fund --loglevel=error node@24.21.0 >/dev/null
node="$dir/npm/node_modules/node/bin/node"
cd "$dir"
openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=authority -days 2 2>/dev/null
openssl req -newkey rsa:2048 -nodes -keyout key.pem -out leaf.csr -subj /CN=leaf 2>/dev/null
echo 'subjectAltName=DNS:localhost' >names
openssl x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out leaf.pem 2>/dev/null
mkdir one two
cp ca.pem two/
openssl rehash two
cat >server.mjs <<'END'
import https from 'node:https'
import fs from 'node:fs'
const s = https.createServer({ key: fs.readFileSync('key.pem'), cert: fs.readFileSync('leaf.pem') }, (q, r) => r.end('ok'))
s.listen(0, 'localhost', () => fs.writeFileSync('port', String(s.address().port)))
END
"$node" server.mjs &
server=$!
until [ -s port ]; do sleep 0.1; done
unset SSL_CERT_FILE NODE_EXTRA_CA_CERTS
ask() { # FOLDERS FLAG
	SSL_CERT_DIR=$1 "$node" "$2" -e "fetch('https://localhost:$(cat port)').then(r => console.log(r.status), e => console.log(e.cause?.code))" 2>stderr
}
for flag in --use-openssl-ca --use-system-ca; do
	for folders in "$dir/two" "$dir/one:$dir/two"; do
		echo "$flag ${folders//$dir\//}: $(ask "$folders" "$flag") $(sed "s|$dir/||g" stderr)"
	done
done
[ "$(ask "$dir/one:$dir/two" --use-openssl-ca)" = 200 ] || fail "OpenSSL takes no list"
[ "$(ask "$dir/two" --use-system-ca)" = 200 ] || fail "one folder is not enough"
[ "$(ask "$dir/one:$dir/two" --use-system-ca)" != 200 ] || fail "a list is taken"
