package policy

import (
	"os"
	"strings"
	"testing"

	"adze/tool"
)

// patternYard is a yard with links in all places of a path.
func patternYard(t *testing.T) (*yard, *Policy) {
	t.Helper()
	y := newYard(t, []string{"go", "rm"}, usualPrograms())
	p := newPolicy(t, Edits, nil, "allow execute(rm -f **)", "deny read(dash/**)", "allow read(abs:"+y.root+"/lent/**)")
	if err := os.MkdirAll(y.root+"/lent/deep", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(y.root+"/lent/deep/l.txt", []byte("lent\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.options.Paths, p.options.Home, p.options.Files = onDisk{y.work}, y.root+"/home", diskFiles{}
	return y, p
}

// TestPatternsThatMayLeadOutAreAskedFor: bash goes through every link that a part of a pattern
// matches, and what it finds there it puts into the words, which echo tells.
func TestPatternsThatMayLeadOutAreAskedFor(t *testing.T) {
	t.Parallel()
	_, p := patternYard(t)
	for _, line := range []string{
		"sort link*/*", "echo link*/*", "echo link/*", "echo l*/*", "echo */*", "echo */", "echo link*/", "echo link/../*", "echo in/*/../../../../*", "echo */*/*", "echo **/*", "echo l**/*",
		"echo ../*", "echo ../outside/*", "echo ~/*", `echo "$HOME"/.s*/*`, "echo /*", "echo /etc/*.conf", `echo "$PWD"/../outside/*`, "echo .*/*", "[ link*/o.txt ]", "for x in link*/*; do echo \"$x\"; done",
		"rm -f link*/*", "echo x > new.txt; echo link*/*", "echo x > new.txt; cd sub; echo ../l*/*", "for x in in link; do echo \"$x\"/*; done", `read -r x < names.txt; echo "$x"/*`, `read -r x < names.txt; echo sub/"$x"*`,
		"x='../outside/*'; echo $x", "x='*/*'; echo $x", "x='[l]ink/*'; for y in $x; do echo \"$y\"; done", "echo x > new.txt; ls *.go; echo $(cat patterns.txt)", "echo dash/*", "echo d*/*",
	} {
		if v := p.judge(Edits, tool.Need{Permission: tool.Execute, Target: line}); v.effect == Allow {
			t.Errorf("%q: %s, as %q %q", line, v.effect, v.run.Argv, v.run.Script)
		}
	}
}

// TestPatternsRunAsBashReadsThem: what is allowed prints what bash prints for the line as it
// stands.
func TestPatternsRunAsBashReadsThem(t *testing.T) {
	t.Parallel()
	y, p := patternYard(t)
	for _, line := range []string{
		"echo *.go", "echo sub/*", "echo in/*", "echo far/*", "echo far/../*", `echo "$PWD"/*.go`, "echo sub/../*.go", "echo sub//*.go", "echo ./*.go", "echo *.go/",
		"echo lost*", "echo lost/*", "echo sub/out*", "echo sub/out*/", "echo ?.go", "ls sub/*.go", "wc -l *.go", "for x in *.go; do echo \"$x\"; done", "for x in a b; do echo \"$x\"*.go; done",
		`for x in sub in; do echo "$x"/*.go; done`, "echo sub/**", "echo \\*", "echo 'a'*",
	} {
		v := p.judge(Edits, tool.Need{Permission: tool.Execute, Target: line})
		if v.effect != Allow || v.run == nil {
			t.Errorf("%q: %s, %s", line, v.effect, v.reason)
			continue
		}
		argv := v.run.Argv
		if argv == nil {
			argv = []string{y.bash, "--noprofile", "--norc", "-c", v.run.Script}
		}
		_, _, got := y.try(t, argv, v.run.Env)
		_, _, want := y.try(t, []string{y.bash, "--noprofile", "--norc", "-c", line}, nil)
		if plainer := strings.ReplaceAll(got, "./", ""); got != want && plainer != strings.ReplaceAll(want, "./", "") {
			t.Errorf("%q printed %q, bash prints %q", line, got, want)
		}
	}
}

// TestTextThatIsSplitIsAskedFor: a file of the project that holds patterns is text, wherever its
// words go.
func TestTextThatIsSplitIsAskedFor(t *testing.T) {
	t.Parallel()
	_, p := patternYard(t)
	for _, line := range []string{
		"echo $(cat patterns.txt)", "for x in $(cat patterns.txt); do echo \"$x\"; done", "while read -r x; do echo $x; done < patterns.txt",
		"x=$(head -n 2 patterns.txt); echo $x", "rm -f $(cat patterns.txt)", "x='a b'; echo $x", "echo $(echo one two)",
	} {
		if v := p.judge(Edits, tool.Need{Permission: tool.Execute, Target: line}); v.effect != Ask {
			t.Errorf("%q: %s", line, v.effect)
		}
	}
}
