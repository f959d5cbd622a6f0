package cmd_test

import (
	"strings"
	"testing"
)

// A word that looks like a command is no prompt; anything else is.
func TestAMistypedCommandIsNoPrompt(t *testing.T) {
	for word, hint := range map[string]string{
		"docter": "did you mean adze doctor?", "Models": "did you mean adze models?", "sesion": "did you mean adze sessions?",
		"resume": "adze --continue", "config": "adze doctor names it", "server": "adze serve, or adze mcp serve",
	} {
		u := newUser(t)
		r := u.run(u.script("-- 1 --\ntext: answered\n"), word).wants(2, hint, "adze -- "+word)
		if strings.Contains(r.out, "answered") {
			t.Errorf("%s was sent to the model", word)
		}
	}
	for _, words := range [][]string{{"sesion", "list"}, {"sesion", "delete"}, {"mpc", "add", "files"}, {"Tools", "list"}} {
		u := newUser(t)
		r := u.run(append([]string{u.script("-- 1 --\ntext: answered\n")}, words...)...).wants(2, "did you mean adze ", words[1]+"?", "adze -- "+strings.Join(words, " "))
		if strings.Contains(r.out, "answered") {
			t.Errorf("%q was sent to the model", words)
		}
	}
	for _, args := range [][]string{{"hello"}, {"doctor the build"}, {"docter", "this"}, {"list", "files"}, {"sesion lists"}, {"-p", "sesion", "list"}, {"--", "sesion", "list"}, {"--", "docter"}, {"--", "doctor"}, {"-p", "docter"}} {
		u := newUser(t)
		u.run(append([]string{u.script("-- 1 --\ntext: answered\n")}, args...)...).wants(0, "answered")
	}
}

// A flag of another assistant is told with what does the same here; a flag that is near is told as
// ever.
func TestAFlagOfAnotherAssistantIsToldWithItsNameHere(t *testing.T) {
	for flag, hint := range map[string]string{
		"--dangerously-skip-permissions": "--yolo", "--full-auto": "--permission-mode auto",
		"-m": "--model", "-y": "--yolo", "--allowedTools": "--allow", "--disallowedTools": "--deny", "--json": "--output-format",
		"--mcp-config": "adze mcp add", "--add-dir": "read(abs:", "--modle": "did you mean --model?", "--nothing-like-it": "adze --help",
	} {
		u := newUser(t)
		if r := u.run(flag, "x").wants(2, "unknown", flag, hint); strings.Contains(r.out, "answered") {
			t.Errorf("%s: %s", flag, r.out)
		}
	}
	u := newUser(t)
	u.run("session", "list", "--yolo").wants(2, "unknown flag: --yolo", "--help")
}

func TestTheVersionIsACommandToo(t *testing.T) {
	u := newUser(t)
	flag := u.run("--version").wants(0, "adze ")
	if r := u.run("version").wants(0); r.out != flag.out {
		t.Errorf("%q, with the flag %q", r.out, flag.out)
	}
}

// Without a terminal on both ends adze works as with --print.
func TestAPipeNeedsNoPrint(t *testing.T) {
	u := newUser(t)
	model := u.script("-- 1 --\ntext: answered\n")
	u.runWith(strings.NewReader("why?\n"), model).wants(0, "answered")
	u.run(model, "why?").wants(0, "answered")
	u.run("--demo").wants(0, "scripted")
	u.run(model, "--output-format", "json", "why?").wants(0, `"text":"answered`)
	u.run(model).wants(2, "there is no prompt", `adze -p "what to do"`)
}

// What means nothing in the configuration is said, and stops no run.
func TestAnUnknownNameInTheConfigurationIsSaid(t *testing.T) {
	u := newUser(t)
	model := u.script("-- 1 --\ntext: answered\n")
	u.configure("\xef\xbb\xbf{\"modle\": \"x/y\"}")
	u.run("-p", model, "hi").wants(0, "answered", "modle is not known; did you mean model?")
	u.run("-p", "hi").wants(3, "no model", "did you mean model?")
	u.run("doctor", "--offline").wants(0, "modle is not known")
}

// The keys of the interface are listed as they are bound, and what cannot be bound is said.
func TestKeysAreListedAsTheyAreBound(t *testing.T) {
	u := newUser(t)
	if r := u.run("keys").wants(0, "todos", "ctrl+t"); strings.Contains(r.out, "config.json") {
		t.Errorf("without bound keys: %s", r.out)
	}
	u.configure(`{"keys": {"todos": "Ctrl-Q", /* one too many */ "sned": "f8"}}`)
	if r := u.run("keys").wants(0, "ctrl+q", `config.json: keys: there is no action "sned"; did you mean send?`); strings.Contains(r.out, "ctrl+t") {
		t.Errorf("todos has its own key still: %s", r.out)
	}
	u.run("help", "keys").wants(0, `"keys": {"todos": "f8"`)
}
