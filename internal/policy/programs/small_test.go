package programs

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"adze/internal/policy/script"
)

func words(list ...string) (out []script.Word) {
	for _, w := range list {
		out = append(out, script.Literal(w))
	}
	return out
}

// Scripts of awk, sed and jq are harmless where they cannot be read in another way.
func TestSmallLanguages(t *testing.T) {
	for script, want := range map[string]bool{
		`{print $1}`: true, `NR>1`: false, `NR==1{print}`: true, `/a[0-9]+/{n++} END{print n/NR}`: false, `{print > "o"}`: false, `{print | "zap"}`: false,
		`{"zap" | getline}`: false, `BEGIN{system("zap")}`: false, `{printf "%s\n", $1}`: false, `$1 ~ /x|y/`: false, `{a[$1]+=$2} END{for (k in a) print k, a[k]}`: false,
		`if (x) /a/ / "zap" | getline / 1`: false, "x\n/a/ / \"zap\" | getline / 1": false, `$1 == "a" {print $2}`: true, `NR<=5`: true, `/a b/{print NR, "x"}`: true, `/a/{print > "o"}`: false, `$1 ~ /a/`: true, `{exit /a/ / "zap" | getline / 1}`: false, `{x++ /a/ / "zap" | getline / 1}`: false,
		`{print ENVIRON["HOME"]}`: false, `BEGIN{ARGV[1]="x"}`: false, `@load "x"`: false, `/[/]/ | "zap"`: false, `{print /a/ "b" | "zap"}`: false, `function f(){}`: false,
		`{x=$1/2}`: false, `{y = a[1]/2 + b/3}`: false, `{print length($0)}`: false, `!seen[$0]++`: true, `length($0) /a/ / "zap" | getline / 1`: false,
	} {
		if _, ok := Judge(words("awk", script, "f")); ok != want {
			t.Errorf("awk %q: %v", script, ok)
		}
	}
	for script, want := range map[string]bool{
		`1,5p`: true, `/a/,/b/p`: true, `s/a/b/g`: true, `s/a/b/w o`: false, `s/a/b/e`: false, `1e zap`: false, `w o`: false, `r f`: false, `5q`: true, `$=`: true,
		`/[/]x/w out;/p`: false, `/[/p;s/]x/w out;/p`: false, `s/[]/b/;s/]/x;s/w out/`: false, `s|a|b|;p`: true, `s/a/b/;w o`: false, `a\`: false, `y/a/b/`: false, `/a/!d`: true,
		"s/a/b/\nw o": false, "p\nd": true, `s/\//x/`: true, `s/[a/b/w o`: false, `/a/I,+2p`: true, `{p}`: false, `s/[^a-z]//g`: true, `s#a#b#;s:x:\1:p`: true, `s/a/b/;e`: false, `5,$d;1!p`: true,
	} {
		if _, ok := Judge(words("sed", "-n", script, "f")); ok != want {
			t.Errorf("sed %q: %v", script, ok)
		}
	}
	for script, want := range map[string]bool{`.a`: true, `env`: false, `$ENV.X`: false, `import "a" as a; .`: false, `include "a"; .`: false, `.[] | select(.x > 1)`: true} {
		if _, ok := Judge(words("jq", script, "f")); ok != want {
			t.Errorf("jq %q: %v", script, ok)
		}
	}
}

// What looks like what the table knows, and is not.
func TestHostileForms(t *testing.T) {
	for line, want := range map[string]bool{
		"sort -o a b": false, "sort --output=a b": false, "sort -ro a": false, "tree -o a": false, "date -s 1": false, "date 010203": false, "date +%s": true, "rg --pre zap x": false,
		"git log --output=a": false, "git -c a=b log": false, "git diff --ext-diff": false, "git log": true, "find . -delete": false, "find . -exec rm {} ;": false, "find . -fprint a": false,
		"find . -exec cat {} +": true, "find . -exec sh -c x {} ;": false, "find -L .": false, "du --files0-from=a": false, "file -C -m a": false, "file -f a": false, "git branch x": false,
		"git branch": true, "git branch -d x": false, "git branch --list x": true, "git tag x": false, "git tag -l x": true, "git remote -v": true, "git remote add a b": false, "git stash": false,
		"git stash list": true, "git describe --abbrev --dirty": false, "git config a.b c": false, "git config user.name": true, "git config --list": false, "git grep -O x": false,
		"git show HEAD^{tree}": false, "git diff --no-index a b": false, "git rev-parse HEAD": true, "git archive HEAD": false, "git st": false, "uniq a b": false, "uniq a": true,
		"xxd a b": false, "xxd a": true, "env": false, "printenv": false, "tee a": true, "hostname x": false, "hostname": true, "bash --version": true, "bash -v": false, "node -v": true,
		"node -e 1": false, "go list ./...": true, "go list -toolexec x": false, "go env -w A=b": false, "go env GOPATH": true, "go test": false, "go version": true, "gofmt -w a": false,
		"gofmt -l a": true, "ps aux": true, "ps auxe": false, "printf -v a b": false, "printf a b": true, "test -v a": false, "[ -f a ]": true, "[ -v a ]": false, "[ a -a b ]": false,
		"command rm": false, "command -v rm": true, "cat @a": false, "unzip a": false, "unzip -l a": true, "xargs ls": false, "tail -n -x a": false, "head -n -5 a": true, "less a": false,
		"cargo --version": true, "cargo build --version": false, "/bin/ls": false, "./ls": false, "jq -f a b": false, "column -t a": true, "lsof -i :80": true, "git ls-files -X a": false,
		"printf %n PATH": false, "printf a%-5ln PATH": false, "printf %%%n PATH": false, "printf -- %n PATH": false, "printf %%n a": true, "printf -- %s a": true, "printf %d%%\\n 1": true,
		"find s/a/b/ -exec sed -n {} f ;": false, "find 1/ -exec awk {} f ;": false, "find . -exec jq {} f ;": false, "find . -exec jq . {} ;": true, "find . -exec printf {} ;": false,
		"find . -exec printf %s {} ;": true, "find +5 -exec tail {} ;": true, "find . -exec test {} ;": false, "find . -exec grep -n {} f ;": true, "find . -exec rg --glob {} f ;": false,
		"go doc fmt.Println": true, "go doc x/../../y": false, "unzip -l *.zip": false,
		"git diff -U ../x": true, "git log -S ../x": false, "tree -Io x y": false, "tree -L 2": true, "xxd -ps a b": false, "git log -n 3": true,
	} {
		if _, ok := Judge(words(strings.Fields(line)...)); ok != want {
			t.Errorf("%s: %v", line, ok)
		}
	}
}

func TestSettings(t *testing.T) {
	for setting, want := range map[string]bool{
		"CI=1": true, "GOOS=linux": true, "NODE_ENV=test": true, "BASH_ENV=x": false, "LD_PRELOAD=x": false, "LD_DEBUG=1": false, "PATH=.": false, "GIT_DEBUG=1": false, "X_TIMEOUT=5": true,
		"RUN_CMD=zap": false, "TEST_SHARDS=4": true, "GOFLAGS=-toolexec=x": false, "LC_ALL=C": true, "LC_ALL=../x": false, "TZ=Europe/Berlin": true, "TZ=/etc/passwd": false, "FOO_MODE=x": false,
		"ENV=x": false, "PAGER=x": false, "DATABASE_URL=postgres://a/b": true, "NODE_OPTIONS=x": false, "NPM_CONFIG_COLOR=1": false, "IFS=x": false, "HOME=x": false,
	} {
		name, value, _ := strings.Cut(setting, "=")
		if got := RiskySetting(name, value, true) == ""; got != want {
			t.Errorf("%s: %v", setting, got)
		}
	}
}

// TestAnOptionBehindAnOperandIsNoneThatHelps: what only looks with an option looks with it in front
// alone.
func TestAnOptionBehindAnOperandIsNoneThatHelps(t *testing.T) {
	for line, want := range map[string]bool{
		"command -v rm": true, "command -V rm mv": true, "command -v -- rm": true, "command rm -v": false, "command rm a -v": false, "command -- rm -v": false, "command rm -vV": false,
		"unzip -l a.zip": true, "unzip a.zip -l": false, "unzip a.zip": false,
		"xxd -p a": true, "xxd a -p": false, "xxd a -r": false, "gofmt -l a.go": true, "gofmt a.go -l": false,
	} {
		var words []script.Word
		for text := range strings.FieldsSeq(line) {
			words = append(words, script.Literal(text))
		}
		if _, ok := Judge(words); ok != want {
			t.Errorf("%q: %v", line, ok)
		}
	}
}

// TestNoFormatOfPrintfSetsAVariable tries every short format that is harmless with the printf of
// bash.
func TestNoFormatOfPrintfSetsAVariable(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	formats := []string{""}
	for at := 0; at < len(formats) && len(formats[at]) < 4; at++ {
		for _, c := range "%n-5*.lh d$\\(x" {
			formats = append(formats, formats[at]+string(c))
		}
	}
	var script strings.Builder
	tried := 0
	for _, f := range formats {
		if _, ok := Judge(words("printf", f, "V", "V", "V")); !ok || f == "" || !strings.Contains(f, "%") {
			continue
		}
		tried++
		fmt.Fprintf(&script, "printf '%s' V V V\n[ \"$V\" = start ] || { echo '%s' >&3; V=start; }\n", f, f)
	}
	cmd := exec.Command(bash, "--noprofile", "--norc", "-c", "exec 3>&1 >/dev/null 2>&1; V=start; . /dev/stdin")
	cmd.Stdin = strings.NewReader(script.String())
	if out, err := cmd.Output(); err != nil || len(out) > 0 || tried < 1000 {
		t.Errorf("%d formats tried, %v; these set a variable:\n%.500s", tried, err, out)
	}
}
