package run

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/config"
	"adze/internal/config/paths"
	"adze/internal/files/workspace"
	"adze/internal/policy"
	"adze/internal/policy/policyconfig"
	"adze/internal/run/conversation"
	"adze/internal/run/guard"
	"adze/internal/run/settings"
	"adze/internal/sandbox/proc"
	"adze/tool"
	"adze/toolset"
)

// yard is a workspace under real rules: every file holds NEEDLE and its own name.
type yard struct {
	t    *testing.T
	dir  string
	home string
	root *workspace.Root
	set  *tool.Set
	gate *policy.Policy
	at   paths.Places
}

func newYard(t *testing.T, files ...string) *yard {
	t.Helper()
	base := t.TempDir()
	y := &yard{t: t, dir: filepath.Join(base, "home", "yard"), home: filepath.Join(base, "home")}
	t.Setenv("HOME", y.home)
	for _, f := range files {
		y.write(f, "NEEDLE in "+f+"\n")
	}
	root, err := workspace.Open(y.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	y.root = root
	shell := toolset.NewShell(proc.Supervisor{}, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + y.home})
	t.Cleanup(shell.Close)
	registry, err := toolset.New(toolset.Deps{Root: root, Shell: shell, Env: func(string) string { return "" },
		Withhold: func(root string) func(dir, name string) bool { return y.gate.FileFilter(root) }})
	if err != nil {
		t.Fatal(err)
	}
	if y.set, err = registry.Tools(t.Context(), tool.Init{Workspace: root.Dir(), Directory: root.Dir(), Cwd: root.Dir()}); err != nil {
		t.Fatal(err)
	}
	return y
}

func (y *yard) write(name, text string) {
	y.t.Helper()
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(y.dir, name)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		y.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		y.t.Fatal(err)
	}
}

// judge makes the gate of the calls that follow.
func (y *yard) judge(mode policy.Mode, asker policy.Asker, deny, allow []string) {
	y.t.Helper()
	rules, err := policyconfig.New(config.Config{}, policyconfig.Flags{Mode: string(mode), Deny: deny, Allow: allow}, policyconfig.RunPaths{Root: y.root, Places: y.at}, asker)
	if err != nil {
		y.t.Fatal(err)
	}
	y.gate = rules
}

func (y *yard) call(name, args string) tool.Outcome {
	y.t.Helper()
	r := &tool.Runner{Gate: y.gate}
	h := r.Hydrate(y.t.Context(), y.set, []tool.RawCall{{ID: "c1", Name: name, Arguments: args}})[0]
	if !h.OK {
		y.t.Fatalf("%s %s: %v", name, args, h.Errors)
	}
	return r.Exec(y.t.Context(), h)
}

// leaks lists the files whose content a result shows.
func leaks(o tool.Outcome, files []string) (found []string) {
	for _, f := range files {
		if strings.Contains(o.Output+string(o.Metadata), "NEEDLE in "+f+"\n") || strings.Contains(o.Output, "NEEDLE in "+f+"\\n") ||
			strings.Contains(o.Output+"\n", "NEEDLE in "+f+"\n") {
			found = append(found, f)
		}
	}
	return found
}

// A deny of files, and the question that secret files raise, hold file by file for tools that read
// many.
func TestFilesAreHeldBackOneByOne(t *testing.T) {
	secret := []string{".env", "deploy/.env.production", "keys/id_ed25519", "deploy/ID_RSA", "private/plan.txt", "private/deep/Plan.txt"}
	open := []string{"app.txt", "deploy/.env.example", "notes.txt"}
	y := newYard(t, append(secret, open...)...)
	deny := []string{"read(private/**)", "read(**/.ENV)", "read(**/notes.txt)"}
	for _, c := range []struct {
		mode  policy.Mode
		deny  []string
		allow []string
		args  string
		held  []string
		count int
	}{
		{policy.AskFirst, nil, nil, `{"pattern":"NEEDLE","include":"**,.*,**/.*"}`, secret[:4], 4},
		{policy.AskFirst, nil, nil, `{"pattern":"NEEDLE","include":"**/.{env,env.*}"}`, secret[:4], 2},
		{policy.AskFirst, nil, nil, `{"pattern":"NEEDLE","path":"deploy","include":"**,.*"}`, secret[:4], 2},
		{policy.AskFirst, nil, nil, `{"pattern":"NEEDLE","path":"./deploy/../deploy","include":"**,.*"}`, secret[:4], 2},
		{policy.Edits, deny, nil, `{"pattern":"NEEDLE","include":"**,.*,**/.*"}`, append([]string{"notes.txt"}, secret...), 7},
		{policy.Yolo, deny, nil, `{"pattern":"NEEDLE","include":"**,.*,**/.*"}`, []string{"notes.txt", ".env", "private/plan.txt", "private/deep/Plan.txt"}, 4},
		{policy.Yolo, nil, nil, `{"pattern":"NEEDLE","include":"**,.*,**/.*"}`, nil, 0},
		{policy.AskFirst, nil, []string{"read"}, `{"pattern":"NEEDLE","include":"**,.*,**/.*"}`, secret[:4], 4},
		{policy.AskFirst, nil, []string{"read(.env)", "read(keys/**)"}, `{"pattern":"NEEDLE","include":"**,.*,**/.*"}`, []string{"deploy/.env.production", "deploy/ID_RSA"}, 2},
		{policy.AskFirst, []string{"read(work:.env)"}, []string{"read(.env)"}, `{"pattern":"NEEDLE","include":".*"}`, secret[:4], 2},
		{policy.AskFirst, []string{"read(abs:" + y.dir + "/app.txt)"}, nil, `{"pattern":"NEEDLE","include":"*"}`, []string{"app.txt"}, 3},
		{policy.AskFirst, []string{"read(home:yard/{app,notes}.txt)"}, nil, `{"pattern":"NEEDLE","include":"*"}`, []string{"app.txt", "notes.txt"}, 4},
	} {
		y.judge(c.mode, nil, c.deny, c.allow)
		name := fmt.Sprintf("%s, deny %v, allow %v, %s", c.mode, c.deny, c.allow, c.args)
		for _, mode := range []string{"content", "files", "count"} {
			o := y.call("grep", strings.TrimSuffix(c.args, "}")+`,"mode":"`+mode+`"}`)
			if got := leaks(o, c.held); len(got) > 0 || o.Status != tool.Completed {
				t.Errorf("%s, %s: %s shows %v:\n%s", name, mode, o.Status, got, o.Output)
			}
			if want := fmt.Sprintf("%d file", c.count); c.count > 0 && !strings.Contains(o.Output, want) || strings.Contains(o.Output, "left out:") != (c.count > 0) {
				t.Errorf("%s, %s: want %d files left out:\n%s", name, mode, c.count, o.Output)
			}
		}
		o := y.call("glob", `{"pattern":"{**,.*,**/.*}"}`)
		for _, f := range c.held {
			if strings.Contains("\n"+o.Output+"\n", "\n"+f+"\n") && strings.Contains(c.args, "**/.*") {
				t.Errorf("%s: glob lists %s:\n%s", name, f, o.Output)
			}
		}
	}
}

// A user who allows the search of a secret folder, or of one file, is not asked for its files
// again; a session's grant of a file opens it to searches.
func TestWhatAPersonAllowedIsNotHeldBack(t *testing.T) {
	y := newYard(t, ".env", "keys/id_rsa", "app.txt")
	y.write(filepath.Join(y.home, ".ssh", "config"), "NEEDLE in config\n")
	y.judge(policy.AskFirst, approve(policy.Once), nil, nil)
	for _, args := range []string{`{"pattern":"NEEDLE","path":".env"}`, `{"pattern":"NEEDLE","path":"~/.ssh"}`} {
		if o := y.call("grep", args); !strings.Contains(o.Output, "NEEDLE in") {
			t.Errorf("%s was allowed:\n%s", args, o.Output)
		}
	}
	if o := y.call("grep", `{"pattern":"NEEDLE","include":".*"}`); len(leaks(o, []string{".env"})) > 0 {
		t.Errorf("once is not for the session:\n%s", o.Output)
	}
	y.judge(policy.AskFirst, approve(policy.Session), nil, nil)
	y.call("read", `{"path":".env"}`)
	if o := y.call("grep", `{"pattern":"NEEDLE","include":".*"}`); len(leaks(o, []string{".env"})) == 0 {
		t.Errorf("the session's grant does not hold for a search:\n%s", o.Output)
	}
}

// Another name of a file by a hard link is the file: what is asked for or denied under one name
// holds for all.
func TestAHardLinkIsTheFile(t *testing.T) {
	y := newYard(t, ".env", "private/plan.txt", "app.txt", "both.txt")
	for link, to := range map[string]string{"notes.txt": ".env", "open.txt": "private/plan.txt", "again.txt": "both.txt", "deep/er/log": ".env"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(y.dir, link)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(filepath.Join(y.dir, to), filepath.Join(y.dir, link)); err != nil {
			t.Skipf("there are no hard links here: %v", err)
		}
	}
	y.write(filepath.Join(y.home, ".ssh", "config"), "NEEDLE in config\n")
	if err := os.Link(filepath.Join(y.home, ".ssh", "config"), filepath.Join(y.dir, "ssh.txt")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		mode policy.Mode
		deny []string
		held []string
	}{
		{policy.AskFirst, nil, []string{"notes.txt", "deep/er/log", "ssh.txt"}},
		{policy.Yolo, []string{"read(private/**)", "read(**/.env)"}, []string{"open.txt", "notes.txt", "deep/er/log"}},
	} {
		y.judge(c.mode, nil, c.deny, nil)
		for _, name := range c.held {
			if o := y.call("read", fmt.Sprintf(`{"path":%q}`, name)); o.Status != tool.Denied || strings.Contains(o.Output, "NEEDLE in") {
				t.Errorf("%s: read %s is %s: %s", c.mode, name, o.Status, o.Output)
			}
			if o := y.call("write", fmt.Sprintf(`{"path":%q,"content":"x"}`, name)); c.mode == policy.AskFirst && o.Status != tool.Denied {
				t.Errorf("%s: write %s is %s: %s", c.mode, name, o.Status, o.Output)
			}
		}
		for _, name := range []string{"again.txt", "both.txt", "app.txt"} {
			if o := y.call("read", fmt.Sprintf(`{"path":%q}`, name)); o.Status != tool.Completed {
				t.Errorf("%s: read %s is %s: %s", c.mode, name, o.Status, o.Output)
			}
		}
	}
	y.judge(policy.AskFirst, nil, nil, nil)
	o := y.call("grep", `{"pattern":"NEEDLE"}`)
	if got := leaks(o, []string{".env", "config"}); len(got) > 0 || !strings.Contains(o.Output, "NEEDLE in both.txt") {
		t.Errorf("grep shows %v:\n%s", got, o.Output)
	}
}

// Every way of writing a name meets the same rule.
func TestADenyHoldsHoweverTheFileIsNamed(t *testing.T) {
	y := newYard(t, ".env", "sub/.env", "real/secrets/key.txt", "app.txt")
	for link, to := range map[string]string{"innocent.txt": ".env", "alias": "sub", "secrets": "real/secrets"} {
		if err := os.Symlink(to, filepath.Join(y.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, mode := range []policy.Mode{policy.AskFirst, policy.Edits, policy.Yolo} {
		y.judge(mode, nil, []string{"read(**/.env)", "read(secrets/**)"}, nil)
		for _, name := range []string{
			".env", "./.env", "sub/../.env", "sub//./.env", y.dir + "/.env", "~/yard/.env", "@.env", "@./sub/.env", "@" + y.dir + "/.env", "@~/yard/.env",
			"innocent.txt", "alias/.env", "./alias/../.env", ".ENV", "SUB/.Env", "secrets/key.txt", "secrets/../secrets/key.txt", "Secrets/key.txt", "@secrets/key.txt",
		} {
			for _, c := range [][2]string{{"read", "path"}, {"grep", "path"}, {"git_status", "path"}} {
				args := fmt.Sprintf(`{"%s":%q}`, c[1], name)
				if c[0] == "grep" {
					args = fmt.Sprintf(`{"pattern":"NEEDLE","path":%q}`, name)
				}
				if o := y.call(c[0], args); o.Status != tool.Denied || strings.Contains(o.Output, "NEEDLE in") {
					t.Errorf("%s %s in %s is %s: %s", c[0], args, mode, o.Status, o.Output)
				}
			}
		}
	}
}

// An edit that fits nowhere tells the nearest lines, so it asks for reading where the file may not
// be read unasked.
func TestAnEditQuotesNothingThatMayNotBeRead(t *testing.T) {
	y := newYard(t, ".env", "app.txt")
	for _, deny := range [][]string{nil, {"read(**/.env)"}} {
		y.judge(policy.Edits, nil, deny, []string{"write"})
		if o := y.call("edit", `{"path":".env","old_string":"NEEDLE in .enw","new_string":"x"}`); o.Status != tool.Denied || len(leaks(o, []string{".env"})) > 0 {
			t.Errorf("deny %v: %s: %s", deny, o.Status, o.Output)
		}
		if o := y.call("edit", `{"path":"app.txt","old_string":"of nothing","new_string":"x"}`); o.Status != tool.Failed {
			t.Errorf("deny %v: %s: %s", deny, o.Status, o.Output)
		}
	}
}

// A user's own deny holds for what they attach and for what @ completes.
func TestADenyHoldsForAttachmentsAndCompletion(t *testing.T) {
	y := newYard(t, "shown.png", "private/pass.png", "private/plan.txt")
	y.judge(policy.Yolo, nil, []string{"read(private/**)"}, nil)
	g := &guard.Guard{Gate: y.gate}
	if err := g.MayAttach([]string{filepath.Join(y.dir, "shown.png")}); err != nil {
		t.Errorf("shown.png: %v", err)
	}
	if err := g.MayAttach([]string{filepath.Join(y.dir, "private", "pass.png")}); err == nil {
		t.Error("a denied file was attached")
	}
	files, err := conversation.Files(t.Context(), &settings.Settings{Root: y.root}, g, nil)
	if err != nil || strings.Join(files.Paths, " ") != "shown.png" {
		t.Errorf("@ completes %v, %v", files, err)
	}
}

// approve answers every question in the same way.
func approve(c policy.Choice) policy.Asker {
	return func(context.Context, tool.Question, policy.Prompt) (policy.Answer, error) {
		return policy.Answer{Choice: c}, nil
	}
}
