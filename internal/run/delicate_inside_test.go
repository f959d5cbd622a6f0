package run

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/cmd"
	"adze/internal/config/paths"
	"adze/internal/policy"
	"adze/tool"
)

// effectOf is what the gate says of one need with nobody to ask.
func (y *yard) effectOf(kind tool.Permission, target string) policy.Effect {
	y.t.Helper()
	d, err := y.gate.Decide(y.t.Context(), tool.Question{Needs: []tool.Need{{Permission: kind, Target: target}}})
	switch {
	case err != nil:
		y.t.Fatal(err)
	case d.Allow:
		return policy.Allow
	case d.Asked:
		return policy.Ask
	}
	return policy.Deny
}

// Files that make other programs run things are asked for in every mode but yolo, however freely
// writing is allowed.
func TestDelicateFilesAreAskedFor(t *testing.T) {
	y := newYard(t, "app.txt", "sub/app.txt")
	y.write(filepath.Join(y.home, ".bashrc"), "")
	for link, to := range map[string]string{"rc": filepath.Join(y.home, ".bashrc"), "editor": ".vscode", "plain": "app.txt"} {
		if err := os.Symlink(to, filepath.Join(y.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	targets := []string{
		".vscode/settings.json", "sub/.vscode/tasks.json", ".VSCode/settings.json", ".idea/workspace.xml", ".mcp.json", "a/.mcp.json", ".envrc", ".npmrc",
		"sub/../.npmrc", ".gitattributes", "deep/er/.gitattributes", ".gitmodules", ".GitModules", "@.envrc", y.dir + "/.idea/x",
		"~/.bashrc", "~/.profile", "~/.zshrc", "~/.zshenv", "~/.ssh/authorized_keys", "~/.ssh/config", "~/.SSH/config", "~/.config/fish/config.fish",
		"~/.config/git/config", "~/.gitconfig", y.home + "/.bash_profile", "../.bashrc", "rc", "editor/tasks.json", ".vscode",
	}
	allow := []string{"write", "write(**)", "write(work:**)", "write(home:**)", "write(abs:/**)"}
	for _, mode := range []policy.Mode{policy.AskFirst, policy.Edits, policy.Auto} {
		y.judge(mode, nil, nil, allow)
		for _, target := range targets {
			if got := y.effectOf(tool.Write, target); got != policy.Ask {
				t.Errorf("%s: writing %s: %s", mode, target, got)
			}
		}
		for _, target := range []string{"app.txt", "plain", "vscode/settings.json", "npmrc", "src/idea.go", "a.gitattributes"} {
			if got := y.effectOf(tool.Write, target); got != policy.Allow {
				t.Errorf("%s: writing %s: %s", mode, target, got)
			}
		}
	}
	y.judge(policy.Yolo, nil, nil, nil)
	for _, target := range targets {
		if got := y.effectOf(tool.Write, target); got != policy.Allow {
			t.Errorf("yolo: writing %s: %s", target, got)
		}
	}
	y.judge(policy.Edits, nil, nil, []string{"write(.vscode/**)", "write(home:.bashrc)", "write(**/.NPMRC)"})
	for target, want := range map[string]policy.Effect{
		".vscode/settings.json": policy.Allow, "~/.bashrc": policy.Allow, ".idea/x": policy.Ask, "~/.zshrc": policy.Ask, ".npmrc": policy.Ask,
	} {
		if got := y.effectOf(tool.Write, target); got != want {
			t.Errorf("a rule names it: writing %s: %s, want %s", target, got, want)
		}
	}
}

// No tool writes adze's own configuration, declared tools and sessions in any mode; reading them is
// asked for.
func TestOwnFilesAreNeverWritten(t *testing.T) {
	y := newYard(t, "app.txt")
	real := filepath.Join(y.home, "dotfiles", "adze")
	y.at = paths.Places{Config: filepath.Join(y.home, ".config", "adze"), State: filepath.Join(y.dir, "state", "adze")}
	y.write(filepath.Join(real, "config.json"), "{}")
	y.write(filepath.Join(y.at.State, "sessions.db"), "NEEDLE in sessions.db\n")
	if err := os.MkdirAll(filepath.Dir(y.at.Config), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{y.at.Config: real, filepath.Join(y.dir, "cfg"): filepath.Dir(y.at.Config), filepath.Join(y.dir, "db"): "state/adze/sessions.db"} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	targets := []string{
		y.at.Config + "/config.json", "~/.config/adze/config.json", "~/.config/adze/tools/mine.json", real + "/config.json", "~/dotfiles/adze/new.json",
		"cfg/adze/config.json", "../.config/adze/x", "state/adze/sessions.db", "state/adze/deep/new", "db", "./state/../state/adze/sessions.db",
		"@state/adze/sessions.db", "STATE/Adze/sessions.db", "~/.CONFIG/adze/config.json", "state/adze",
	}
	allow := []string{"write", "write(abs:/**)", "write(home:.config/adze/**)", "write(state/adze/**)", "execute", "read"}
	for _, mode := range policy.Modes() {
		y.judge(policy.Mode(mode), nil, nil, allow)
		for _, target := range targets {
			if got := y.effectOf(tool.Write, target); got != policy.Deny {
				t.Errorf("%s: writing %s: %s", mode, target, got)
			}
			want := policy.Ask
			if mode == "yolo" {
				want = policy.Allow
			}
			if got := y.effectOf(tool.Read, target); got != want {
				t.Errorf("%s: reading %s: %s", mode, target, got)
			}
		}
		for _, command := range []string{
			"echo '{}' > ~/.config/adze/config.json", "echo x >>state/adze/sessions.db", "tee ~/.config/adze/tools/a.json </dev/null", `cp app.txt "$HOME/.config/adze/config.json"`,
			"rm -rf state/adze", "sudo rm -r state/adze", "dd if=app.txt of=state/adze/sessions.db", "true && (cd /; mv a " + real + "/config.json)",
			"sed -i s/a/b/ " + y.at.Config + "/config.json", "echo x &> db", "env A=1 touch 'cfg/adze/new'",
		} {
			if got := y.effectOf(tool.Execute, command); got != policy.Deny {
				t.Errorf("%s: %s: %s", mode, command, got)
			}
		}
		if got := y.effectOf(tool.Execute, "cat ~/.config/adze/config.json"); mode == "yolo" && got != policy.Allow {
			t.Errorf("%s: reading by a command: %s", mode, got)
		}
	}
	y.judge(policy.AskFirst, nil, nil, nil)
	if o := y.call("grep", `{"pattern":"NEEDLE"}`); strings.Contains(o.Output, "NEEDLE in sessions.db") || !strings.Contains(o.Output, "1 file left out") {
		t.Errorf("a search shows sessions:\n%s", o.Output)
	}
	o := y.call("write", fmt.Sprintf(`{"path":%q,"content":"{}"}`, "~/.config/adze/tools/evil.json"))
	if hint := cmd.DeniedHint(o.Record); o.Status != tool.Denied || strings.Contains(hint, "--allow") {
		t.Errorf("%s: %s\nhint: %s", o.Status, o.Output, hint)
	}
}
