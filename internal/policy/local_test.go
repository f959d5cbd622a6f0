package policy

import (
	"strings"
	"testing"
)

// A rule that allows ls means the system's, not one that PATH finds in the workspace.
func TestARuleDoesNotMeanTheWorkspacesOwnProgram(t *testing.T) {
	p := newPolicy(t, AskFirst, nil, "allow execute(ls **)", "allow execute(pytest **)", "allow execute(.venv/bin/pytest **)")
	p.options.Local = func(program string) string {
		if program == "pytest" {
			return "/w/.venv/bin/pytest"
		}
		return ""
	}
	for command, want := range map[string]Effect{
		"ls": Allow, "pytest": Ask, "pytest -x": Ask, "ls; pytest": Ask, "timeout 5 pytest": Ask, ".venv/bin/pytest -x": Allow,
	} {
		e := p.Explain(command, "")
		if e.Effect != want || want == Ask && !strings.Contains(e.Reason, "/w/.venv/bin/pytest") {
			t.Errorf("%q: %s, %s", command, e.Effect, e.Reason)
		}
	}
	if err := p.SetMode(Yolo); err != nil || p.Explain("pytest", "").Effect != Allow {
		t.Error("yolo does not allow it")
	}
}
