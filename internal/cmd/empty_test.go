package cmd_test

import (
	"strings"
	"testing"
)

// A list with nothing in it says so, on stderr: on stdout a script reads lines.
func TestAnEmptyListSaysSo(t *testing.T) {
	for _, args := range [][]string{
		{"session", "list"}, {"session", "list", "--all"}, {"session", "list", "--tag", "x"}, {"session", "list", "--json"},
		{"session", "search", "word"}, {"mcp", "list"}, {"mcp", "list", "--json"}, {"trust", "list"},
	} {
		u := newUser(t)
		r := u.run(args...).wants(0)
		if strings.TrimSpace(r.err+r.out) == "" {
			t.Errorf("%v says nothing", args)
		}
		if args[len(args)-1] == "--json" && r.out != "" {
			t.Errorf("%v: stdout %q", args, r.out)
		}
	}
}

// A word or a flag without a value is a mistake and names the next move; nothing is begun.
func TestEmptyAndUnknownWordsAreMistakes(t *testing.T) {
	u := newUser(t)
	model := u.script("-- 1 --\ntext: hi\n")
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"resume":            {[]string{"-p", model, "--resume", "", "go"}, "--resume is empty"},
		"short resume":      {[]string{"-p", model, "-r", "", "go"}, "--resume is empty"},
		"model":             {[]string{"-p", "--model", "", "go"}, "--model is empty"},
		"cwd":               {[]string{"-p", model, "--cwd=", "go"}, "--cwd is empty"},
		"attach":            {[]string{"-p", model, "--attach", "", "go"}, "--attach is empty"},
		"a command's flag":  {[]string{"session", "list", "--since", ""}, "--since is empty"},
		"help":              {[]string{"help", "NOSUCH"}, `adze has no command "NOSUCH"`},
		"help, nearly":      {[]string{"help", "sesion"}, "did you mean adze help sessions?"},
		"help below":        {[]string{"help", "session", "lst"}, "did you mean adze help sessions list?"},
		"completion":        {[]string{"completion", "nosh"}, `adze completion has no command "nosh"`},
		"completion nearly": {[]string{"completion", "bsh"}, "did you mean adze completion bash?"},
		"a session":         {[]string{"session", "show", ""}, "empty"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := u.run(c.args...).wants(2, c.says); r.out != "" && c.args[0] != "-p" {
				t.Errorf("stdout %q", r.out)
			}
		})
	}
	u.run("help", "session", "list").wants(0, "adze sessions list")
	u.run("help").wants(0, "Available Commands")
	u.run("completion", "bash").wants(0, "bash completion")
	u.run("-p", "--tools", "", model, "go").wants(0, "hi")
}

// A fork is called after the first message of its own; until then it is marked as a copy.
func TestAForkHasATitleOfItsOwn(t *testing.T) {
	u := newUser(t)
	id := u.run("-p", "--output-format", "json", u.script("-- 1 --\ntext: one\n"), "the first task").wants(0).result()["session"].(string)
	copied := strings.TrimSpace(u.run("session", "fork", id).wants(0).out)
	u.run("session", "list").wants(0, "the first task (copy)")
	u.run("-p", "--resume", copied, u.script("-- 1 --\ntext: two\n"), "another task").wants(0)
	u.run("-p", "--resume", id, "--fork", u.script("-- 1 --\ntext: three\n"), "a third task").wants(0)
	list := u.run("session", "list").wants(0, "another task", "a third task").out
	if n := strings.Count(list, "the first task"); n != 1 {
		t.Errorf("%d sessions are called after the first task:\n%s", n, list)
	}
}
