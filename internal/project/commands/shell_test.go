package commands

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/internal/project/discovery"
	"adze/internal/text"
)

func given(rest, dialect, body string) *arguments {
	return argumentsOf(rest, discovery.Item{Dialect: dialect}, discovery.ParseText([]byte(body)))
}

// attacks are arguments with all that a shell reads as more than a word.
func attacks() []string {
	return []string{
		"$(touch PWNED)", "`touch PWNED`", "; touch PWNED", "| touch PWNED", "&& touch PWNED", "' ; touch PWNED ; '", `" ; touch PWNED ; "`,
		"'$(touch PWNED)'", `"$(touch PWNED)"`, `\"; touch PWNED; \"`, "a\ntouch PWNED\n", "a[$(touch PWNED)]", "${x:-$(touch PWNED)}", "<(touch PWNED)",
		"> PWNED", "#", "*", "~", "{a,b}", "!x", `\`, `'`, `"`, `'"'"'`, "-n", "", "$HOME", "$'\\x41'", "it's", "\u00e9 \u2026",
		"x'; touch PWNED #", "$((a[$(touch PWNED)]))", "\\\ntouch PWNED", "a\r\ntouch PWNED", "EOF\ntouch PWNED\n",
	}
}

// What a user writes behind a command's name reaches a program of a real shell as words, whatever
// stands in it, and wherever the command lets it stand; where that cannot be, it is refused.
func TestArgumentsNeverBecomeShellText(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	dir := t.TempDir()
	stub := filepath.Join(dir, "show")
	if err := os.WriteFile(stub, []byte("#!/bin/sh\nfor a; do printf '<%s>' \"$a\"; done\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command string
		want    func(arg string) string // what show prints; if nil, it must be refused
	}{
		{"./show $1", one}, {`./show "$1"`, one}, {"./show ${1}", one}, {"./show a$1", pre("a")}, {`./show "a $1"`, pre("a ")},
		{"./show '$ARGUMENTS'", one}, {`./show "$ARGUMENTS"`, one}, {"./show $ARGUMENTS", one}, {`x=$1; ./show "$x"`, one},
		{`./show "$(./show "$1")"`, func(a string) string { return "<" + strings.TrimRight(one(a), "\n") + ">" }},
		{"for x in $1; do ./show \"$x\"; done", one}, {"# $1\n./show a", func(string) string { return "<a>" }},
		{"./show '$1'", func(string) string { return "<$1>" }}, {`./show \$1`, func(string) string { return "<$1>" }},
		{"./show $(( $1 ))", nil}, {"[[ $1 -eq 0 ]]", nil}, {"cat <<EOF\n$1\nEOF", nil}, {"./show `echo $1`", nil}, {"./show ${x:-$1}", nil}, {"./show ${1:-x}", nil},
		{"eval $1", nil}, {`bash -c "echo $1"`, nil}, {`timeout 5 sh -c "echo $1"`, nil}, {`python3 -c "print('$1')"`, nil}, {"let $1", nil}, {"declare $1", nil},
		{"a[$1]=5", nil}, {"a=([$1]=5)", nil}, {"printf -v $1 x", nil}, {"unset $1", nil}, {"$x trap $1 EXIT", nil}, {"echo $1 | bash", nil}, {"bash <<<$1", nil}, {"<<<$1 source /dev/stdin", nil}, {". <(echo $1)", nil}, {"echo $1 | env sh -s", nil}, {`"eval" $1`, nil}, {`\eval $1`, nil}, {`env "bash" "-c" "echo $1"`, nil}, {`env $x -c "echo $1"`, nil}, {"for (( i=$1; i<1; i++ )); do :; done", nil}, {"./show ${a[$1]}", nil},
		{`./show $"a $1"`, nil}, {"trap $1 EXIT", nil}, {"./show ${#1}", nil}, {"./show ${!1}", nil},
	} {
		for _, attack := range attacks() {
			a := &arguments{all: attack, words: []string{attack}, first: 1, restArg: -1}
			command, err := a.shell(c.command)
			if c.want == nil {
				if err == nil {
					t.Errorf("%q takes %q and becomes %q", c.command, attack, command)
				}
				continue
			}
			if err != nil {
				t.Errorf("%q with %q: %v", c.command, attack, err)
				continue
			}
			cmd := exec.Command(bash, "--noprofile", "--norc", "-c", command)
			cmd.Dir = dir
			out, err := cmd.Output()
			if err != nil || string(out) != c.want(attack) {
				t.Errorf("%q with %q is %q, prints %q, want %q (%v)", c.command, attack, command, out, c.want(attack), err)
			}
			if _, err := os.Lstat(filepath.Join(dir, "PWNED")); err == nil {
				t.Fatalf("%q with %q became shell text: %q", c.command, attack, command)
			}
		}
	}
}

func one(arg string) string { return "<" + arg + ">" }

func pre(before string) func(string) string {
	return func(arg string) string { return "<" + before + arg + ">" }
}

func TestArgumentsInCommands(t *testing.T) {
	for _, c := range []struct{ rest, dialect, command, want string }{
		{"a 'b c' d", "claude", "git log $ARGUMENTS", "git log 'a' 'b c' 'd'"},
		{"a b", "adze", "git log $2 -- $1", "git log 'b' -- 'a'"},
		{"a b", "claude", "git log $1 -- $0", "git log 'b' -- 'a'"},
		{"a", "claude", "git log $1 -- $0", "git log $1 -- 'a'"},
		{"", "adze", "git log $1 $ARGUMENTS", "git log  "},
		{"a b", "claude", "git show $ARGUMENTS[1]", "git show 'b'"},
		{"x", "claude", "awk '{print $1}' f", "awk '{print $1}' f"},
		{"x", "adze", "f() { echo $1; }; f $1", "f() { echo $1; }; f 'x'"},
		{"x", "claude", "echo $HOME $100", "echo $HOME $100"},
	} {
		body := "!`" + c.command + "`"
		got, err := given(c.rest, c.dialect, body).shell(c.command)
		if err != nil || got != c.want {
			t.Errorf("%s with %q is %q (%v), want %q", c.command, c.rest, got, err, c.want)
		}
	}
}

// Seen with claude-code 2.1.332 (requests to a model server) and opencode 1.18.33 (run --command).
func TestArgumentsInText(t *testing.T) {
	for _, c := range []struct{ rest, dialect, body, want string }{
		{"12 high", "adze", "Fix $1 at $2 of $ARGUMENTS, for $5 and $100.", "Fix 12 at high of 12 high, for  and $100."},
		{"12 high", "adze", `Fix $0 at $1, \$1 and \$HOME.`, `Fix 12 at high, $1 and \$HOME.`},
		{"one y", "claude", "Fix $1 at $2", "Fix y at $2"},
		{"a b c d e f g h i j k", "claude", "$10 $0 $11", "k a $11"},
		{"x", "claude", `\$0 \$ARGUMENTS $0`, "$0 $ARGUMENTS x"},
		{"12 high", "claude", "Fix $ARGUMENTS[0] at $ARGUMENTS[1] for $100 and $name", "Fix 12 at high for $100 and $name"},
		{"it's a", "claude", "$0|$1", "it's|a"},
		{"$1 $2", "claude", "$ARGUMENTS", "$1 $2"},
		{"a b", "opencode", `\$1 $3.`, `\a .`},
		{"a b c d e f g h i j k", "opencode", "$1|$10", "a|j k"},
		{`"a b" c`, "opencode", "$1|$2", "a b|c"},
		{"a b c", "opencode", "$1|$2", "a|b c"},
	} {
		if got := given(c.rest, c.dialect, c.body).fill(c.body); got != c.want {
			t.Errorf("%q with %q is %q, want %q", c.body, c.rest, got, c.want)
		}
	}
	named := "---\narguments: [issue, branch]\n---\nFix $issue on $branch of $other."
	if got := given("12 main", "claude", named).fill("Fix $issue on $branch of $other."); got != "Fix 12 on main of $other." {
		t.Errorf("named: %q", got)
	}
}

func TestWhatIsACommand(t *testing.T) {
	for text, want := range map[string]string{
		"/fix": "fix|", "/fix 12 a": "fix|12 a", "/git:commit x": "git:commit|x", "/git/commit": "git/commit|", "/fix\nmore": "fix|more",
		"/étude": "étude|", " /fix": "", "fix": "", "/": "", "// x": "", "/* x */": "", "/fix,": "", "/a/": "", "/a$b": "",
	} {
		name, rest, ok := Cut(text)
		got := name + "|" + rest
		if !ok {
			got = ""
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	if got := text.Words(`a "b c" d'e f'g n='h i' ''  "`); !slices.Equal(got, []string{"a", "b c", `d'e`, `f'g`, "n=h i", "", `"`}) {
		t.Errorf("fields are %q", got)
	}
}
