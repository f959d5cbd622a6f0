package commands

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/testkit/effort"
)

// Commands put together at random, with arguments that attack, start nothing but what they name, in
// a real shell. The variable ADZE_TESTS says how many; a few are tried always.
func TestRandomCommandsKeepArgumentsWords(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	count := effort.Rounds(60, 120, 10_000)
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(3, uint64(count)))
	pieces := []string{"$1", "${1}", "\"$1\"", "'$1'", "$ARGUMENTS", "'$ARGUMENTS'", "\"a $ARGUMENTS b\"", "$ARGUMENTS[0]", "\\$1", "\"\\$1\"", "a$1b", "x=$1", "$x", "\"$x\"",
		"$(printf %s \"$1\")", "\"$(printf '%s' $1)\"", "`echo $1`", "$((1+$1))", "${1:-z}", "${x/$1/b}", "${x#$1}", "<<<$1", "bash", "sh", "cat", "<<E\n$1\nE\n", "<<'E'\n$1\nE\n", "# $1\n", "{$1,b}",
		"[[ a == $1 ]]", "[ a = \"$1\" ]", "eval $1", "bash -c \"$1\"", "bash -c 'echo \"$1\"' _ $1", "sh -c \"echo $1\"", "env bash -c \"echo $1\"", "if true; then echo $1; fi", "for i in $1; do echo $i; done",
		"case $1 in $1) echo y;; esac", "f() { echo $1; }; f $1", "a[$1]=1", "declare -a a=($1)", "let $1", "printf %s $1", "printf -v $1 x", "echo", "|", ";", "&&", "||", "\n", "(", ")", "{", "}", "$'a\\'$1'", "$\"$1\"", "'", "\"", "\\", "export x=$1", "read $1 </dev/null", "test -v $1", "cat <(echo $1)", "xargs bash -c \"$1\" </dev/null", "python3 -c \"$1\"", "awk \"$1\" /dev/null", "trap $1 EXIT", "coproc $1", "\"eval\"", "\\eval", "e'va'l", "env", "\"bash\"", "-c", "\"-c\"", "command", "builtin", "time", "!", "exec", "{eva,}l", "source /dev/stdin"}
	ran := 0
	for range count {
		var parts []string
		for range 1 + r.IntN(4) {
			parts = append(parts, pieces[r.IntN(len(pieces))])
		}
		all := attacks()
		a := &arguments{words: []string{all[r.IntN(len(all))]}, first: 1, restArg: -1}
		text := strings.Join(parts, " ")
		command, err := a.shell(text)
		if err != nil {
			continue
		}
		if _, err := parse(command); err != nil {
			continue // the gate lets none run that it cannot read
		}
		ran++
		cmd := exec.Command(bash, "--noprofile", "--norc", "-c", command)
		cmd.Dir = dir
		_ = cmd.Run() // how it ends does not matter
		if _, err := os.Lstat(filepath.Join(dir, "PWNED")); err == nil {
			t.Fatalf("%q with %q became shell text: %q", text, a.words[0], command)
		}
	}
	if ran < count/8 {
		t.Errorf("only %d of %d ran", ran, count)
	}
}
