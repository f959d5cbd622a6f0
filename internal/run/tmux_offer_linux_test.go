//go:build unix

package run_test

import (
	"strings"
	"testing"
)

// TestTheFirstStartOffersTheSandbox in each folder once, where it is full, on one screen; the
// answer holds for that folder's interface and for nothing without a terminal.
func TestTheFirstStartOffersTheSandbox(t *testing.T) {
	u := newUser(t)
	sandboxed(t, u)
	const steps = "-- 1 --\ncall bash: {\"command\": \"touch made\"}\n-- 2 --\ntext: It was made.\n"
	model := u.script(steps)
	p := u.openPane(80, 24)
	u.run("trust", "revoke", "mode").wants(0)
	p.begin(model, "go")
	shown := p.sees("How shall commands run in this folder?", "1 Run commands in the sandbox without questions (recommended)", "2 Ask me before commands", "adze sandbox says more")
	if strings.Contains(shown, "PgDn") {
		t.Errorf("it does not fit on the screen:\n%s", shown)
	}
	p.sees("enter answer")
	p.keys("Enter")
	p.sees("permission mode: auto", "It was made.")
	p.quit()
	u.run("trust", "list").wants(0, "starts here in permission mode auto")
	p.adze(model)
	if shown := p.sees("mode          auto"); strings.Contains(shown, "How shall") {
		t.Errorf("it is asked again:\n%s", shown)
	}
	p.quit()
	if r := u.run("-p", "--output-format", "stream-json", model, "hi").wants(7); !strings.Contains(r.out, `"permission_mode":"ask"`) {
		t.Errorf("without a terminal: %s", r.out)
	}
	u.run("trust", "revoke", "mode").wants(0, "revoked: mode")
	p.begin(model)
	p.sees("How shall commands run", "enter answer")
	p.keys("Down", "Enter")
	p.sees("permission mode: ask")
	p.quit()
	u.configure(`{"permission_mode": "plan"}`)
	u.run("trust", "revoke", "--all").wants(0)
	p.adze(model)
	if shown := p.sees("mode          plan"); strings.Contains(shown, "How shall") {
		t.Errorf("although the configuration says it:\n%s", shown)
	}
	p.quit()
}

// TestWithoutASandboxNothingIsOffered where it is switched off.
func TestWithoutASandboxNothingIsOffered(t *testing.T) {
	u := newUser(t)
	u.configure(`{"sandbox": "off"}`)
	p := u.openPane(80, 24)
	u.run("trust", "revoke", "mode").wants(0)
	p.adze(u.script("-- 1 --\ntext: It was said.\n"), "go")
	if shown := p.sees("It was said."); strings.Contains(shown, "How shall") {
		t.Error(shown)
	}
	p.quit()
}
