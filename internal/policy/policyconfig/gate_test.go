package policyconfig

import (
	"context"
	"slices"
	"strings"
	"testing"

	"adze/internal/config"
	"adze/internal/files/workspace"
	"adze/internal/policy"
	"adze/tool"
)

// ground is a workspace of its own.
func ground(t *testing.T, owner config.Managed) RunPaths {
	root, err := workspace.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return RunPaths{Root: root, Managed: owner}
}

func verdict(t *testing.T, p *policy.Policy, command string) tool.Decision {
	d, err := p.Decide(context.Background(), tool.Question{Needs: []tool.Need{{Permission: tool.Execute, Target: command}}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// What the machine's owner forbids or wants asked holds against every flag, every list and every
// mode of a user.
func TestTheOwnerOnlyNarrows(t *testing.T) {
	owner := config.Managed{Path: "/etc/adze/config.json", Deny: []string{"execute(make **)"}, Ask: []string{"execute(touch **)"}}
	everything := Flags{Allow: []string{"execute(make **)", "execute(touch **)"}}
	p, err := New(config.Config{Allow: []string{"execute(make **)"}}, everything, ground(t, owner), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := verdict(t, p, "make all"); d.Allow || d.Layer != string(policy.Managed) {
		t.Errorf("make: %+v", d)
	}
	if d := verdict(t, p, "touch x"); d.Allow || !d.Asked {
		t.Errorf("touch is not asked for: %+v", d)
	}
	everything.Mode = "yolo"
	p, err = New(config.Config{}, everything, ground(t, owner), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := verdict(t, p, "make all"); d.Allow {
		t.Errorf("in yolo: %+v", d)
	}
}

func TestTheOwnerNamesTheModes(t *testing.T) {
	owner := config.Managed{Path: "/etc/adze/config.json", Modes: []string{"plan", "edits"}}
	for _, mode := range []string{"yolo", "auto", "ask"} {
		if _, err := New(config.Config{}, Flags{Mode: mode}, ground(t, owner), nil); err == nil || !strings.Contains(err.Error(), "does not let") {
			t.Errorf("--permission-mode %s: %v", mode, err)
		}
		if _, err := New(config.Config{PermissionMode: mode}, Flags{}, ground(t, owner), nil); err == nil {
			t.Errorf("permission_mode %s is taken", mode)
		}
	}
	p, err := New(config.Config{}, Flags{}, ground(t, owner), nil)
	if err != nil || p.Mode() != policy.Plan {
		t.Fatalf("%v %v", p, err)
	}
	if p.SetMode(policy.Yolo) == nil || p.SetMode(policy.Edits) != nil || p.Mode() != policy.Edits {
		t.Errorf("the mode is %s", p.Mode())
	}
	owner.Modes = []string{"yollo"}
	if _, err := New(config.Config{}, Flags{}, ground(t, owner), nil); err == nil || !strings.Contains(err.Error(), "did you mean yolo") {
		t.Errorf("%v", err)
	}
}

// An ask rule wins over an allow rule of any layer, and says where it stands.
func TestAskRulesOfThePersonAndTheCommandLine(t *testing.T) {
	cfg := config.Config{Allow: []string{"execute(git **)"}, Ask: []string{"execute(git push **)"}}
	p, err := New(cfg, Flags{Asks: []string{"execute(git tag **)"}}, ground(t, config.Managed{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	for command, allow := range map[string]bool{"git add x": true, "git push origin": false, "git tag v1": false} {
		if d := verdict(t, p, command); d.Allow != allow {
			t.Errorf("%s: %+v", command, d)
		}
	}
	var layers []policy.Layer
	for _, r := range p.Rules() {
		layers = append(layers, r.Layer)
	}
	if !slices.Equal(layers, []policy.Layer{policy.CommandLine, policy.User, policy.User}) {
		t.Errorf("layers %v", layers)
	}
	if _, err := New(config.Config{Ask: []string{"fly"}}, Flags{}, ground(t, config.Managed{}), nil); err == nil || !strings.Contains(err.Error(), "ask in") {
		t.Errorf("%v", err)
	}
}
