//go:build unix

package run_test

import (
	"strings"
	"testing"
)

// TestANewFolderStartsInAuto where the sandbox is full: nothing is asked before the prompt, the
// first row of the conversation says so, and it holds for the interface alone.
func TestANewFolderStartsInAuto(t *testing.T) {
	u := newUser(t)
	sandboxed(t, u)
	const steps = "-- 1 --\ncall bash: {\"command\": \"touch made\"}\n-- 2 --\ntext: It was made.\n"
	const row = "auto: edits, and runs commands in the sandbox"
	model := u.script(steps)
	p := u.openPane(80, 24)
	u.run("trust", "revoke", "mode").wants(0)
	p.begin(model, "go")
	p.sees(row, "It was made.")
	p.quit()
	u.run("trust", "list").wants(0, "starts here in permission mode auto")
	p.adze(model)
	p.sees(row)
	p.quit()
	if r := u.run("-p", "--output-format", "stream-json", model, "hi").wants(7); !strings.Contains(r.out, `"permission_mode":"ask"`) {
		t.Errorf("without a terminal: %s", r.out)
	}
	u.configure(`{"permission_mode": "plan"}`)
	u.run("trust", "revoke", "--all").wants(0)
	p.adze(model)
	if shown := p.sees("plan"); strings.Contains(shown, row) {
		t.Errorf("although the configuration says it:\n%s", shown)
	}
	p.quit()
}

// TestWithoutASandboxItIsAsked where it is switched off.
func TestWithoutASandboxItIsAsked(t *testing.T) {
	u := newUser(t)
	u.configure(`{"sandbox": "off"}`)
	p := u.openPane(80, 24)
	u.run("trust", "revoke", "mode").wants(0)
	p.adze(u.script("-- 1 --\ntext: It was said.\n"), "go")
	if shown := p.sees("It was said."); strings.Contains(shown, "(auto)") {
		t.Error(shown)
	}
	p.quit()
}
