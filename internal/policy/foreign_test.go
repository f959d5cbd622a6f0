package policy

import (
	"strings"
	"testing"

	"adze/tool"
)

// TestALineOfAnotherShellIsNotReadAsBash judges lines that bash would read as something harmless.
func TestALineOfAnotherShellIsNotReadAsBash(t *testing.T) {
	var rules []Rule
	for _, text := range []string{"deny execute(git push **)", "deny execute(rm **)", "allow execute(npm test)", "allow execute(go **)", "ask execute(npm publish **)"} {
		effect, rest, _ := strings.Cut(text, " ")
		r, err := ParseRule(Effect(effect), User, rest)
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, r)
	}
	for line, want := range map[string]map[Mode]Effect{
		"ls":                                    {AskFirst: Ask, Edits: Ask, Auto: Ask, Yolo: Allow, Plan: Deny},
		"cat file.txt":                          {AskFirst: Ask},
		"npm test":                              {AskFirst: Allow, Edits: Allow},
		"npm  test":                             {AskFirst: Allow},
		"npm test; Remove-Item x":               {AskFirst: Ask},
		"npm test\nRemove-Item x":               {AskFirst: Ask},
		"npm test $(Remove-Item x)":             {AskFirst: Ask},
		"go vet ./...":                          {AskFirst: Ask}, // the rule has a **
		"git push origin":                       {AskFirst: Deny, Yolo: Deny},
		"GIT.EXE PUSH origin":                   {AskFirst: Deny, Yolo: Deny},
		`& "C:\Program Files\Git\git.exe" push`: {AskFirst: Ask, Yolo: Deny},
		"Get-Item x; g`it push":                 {AskFirst: Deny},
		"dir & r^m x":                           {AskFirst: Deny},
		"cmd /c git push":                       {AskFirst: Ask, Yolo: Deny},
		"if ($x) { rm x }":                      {AskFirst: Deny},
		"npm publish":                           {AskFirst: Ask, Edits: Ask},
	} {
		for mode, effect := range want {
			p, err := New(Options{Mode: mode, Rules: rules, Shell: "PowerShell 7"})
			if err != nil {
				t.Fatal(err)
			}
			if got := p.judge(mode, tool.Need{Permission: tool.Execute, Target: line}); got.effect != effect {
				t.Errorf("%s: %q is %s (%s), want %s", mode, line, got.effect, got.reason, effect)
			}
		}
	}
}
