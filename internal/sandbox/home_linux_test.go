package sandbox_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
)

// asked are rules of a user for tests.
type asked struct {
	read, write   []string // allowed
	hidden, still []string // denied, as patterns of the workspace
	work          string
}

func (a asked) Allowed(write bool) []string {
	if write {
		return a.write
	}
	return a.read
}

func (a asked) Secret() []string { return nil }

func (a asked) Denied(write bool) (out []sandbox.Denial) {
	patterns := a.hidden
	if write {
		patterns = a.still
	}
	for _, p := range patterns {
		out = append(out, sandbox.Denial{Rule: "deny " + p, Root: a.work, Pattern: p, Fold: strings.ToLower})
	}
	return out
}

// ruled gives a bench a sandbox with rules.
func (b *bench) ruled(means sandbox.Technique, rules asked) {
	rules.work = b.work
	b.box = sandbox.New(sandbox.Options{Workspace: b.work, Home: b.home, State: b.state, OwnPaths: []string{b.state}, Techniques: []sandbox.Technique{means}, Rules: rules})
	b.t.Cleanup(b.box.Close)
}

// walled are the means that hold by mounts.
func walled() []sandbox.Technique {
	return withMeans(sandbox.Namespaces)
}

// Nothing of the home is there but what is allowed, whatever its name is and whenever it comes to
// be.
func TestAHomeIsEmptyButForWhatIsAllowed(t *testing.T) {
	for _, means := range walled() {
		t.Run(string(means), func(t *testing.T) {
			b := newBench(t, means)
			secrets := []string{".netrc", ".aws/credentials", ".mysql_history", ".s3cfg", "other/.env", "other/key.pem", ".config/assistant/token", ".claude/x", "sibling/file"}
			for _, name := range secrets {
				b.write(name, "secret of the user\n")
			}
			b.write(".npmrc", "registry=https://me:pass@r.test/\n//r.test/:_authToken=abc\nloglevel=warn\n")
			b.write(".config/git/ignore", "*.o\n")
			b.write(".gitconfig", "[user]\n\tname = Ada\n[credential]\n\thelper = store\n[http \"https://h.test\"]\n\textraheader = Authorization: x\n[include]\n\tpath = more.inc\n")
			b.write("more.inc", "[alias]\n\tst = status\n")
			b.write("tools/bin/tool", "#!/bin/sh\nread line < \"$(dirname \"$0\")/../lib/word\"; echo $line\n")
			b.write("tools/lib/word", "tool ran\n")
			b.write("tools/.env", "secret of the user\n")
			b.write(".pyenv/versions/x", "version\n")
			b.write("data/shown", "shown\n")
			b.write("out/old", "old\n")
			b.write("out/.git/config", "[core]\n")
			for _, dir := range []string{"tools/bin", "real"} {
				if err := os.MkdirAll(filepath.Join(b.home, dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			b.write("real/prog", "#!/bin/sh\necho linked ran\n")
			for _, name := range []string{"tools/bin/tool", "real/prog"} {
				if err := os.Chmod(filepath.Join(b.home, name), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink("../../real/prog", filepath.Join(b.home, "tools/bin/prog")); err != nil {
				t.Fatal(err)
			}
			// A folder of the host's /tmp is there, although commands have a /tmp of their own.
			temporary, err := os.MkdirTemp("/tmp", "shown-*")
			if err == nil {
				err = os.WriteFile(filepath.Join(temporary, "a"), []byte("of the host"), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(temporary) })
			b.ruled(means, asked{read: []string{filepath.Join(b.home, "data"), temporary}, write: []string{filepath.Join(b.home, "out")}})
			run := func(script string) string {
				t.Helper()
				r, err := proc.Supervisor{Cage: b.box}.Run(context.Background(), proc.Command{
					Argv: []string{"bash", "--noprofile", "--norc", "-c", script + " 2>&1"}, Dir: b.work, Env: append(b.env(), "PATH="+b.home+"/tools/bin:/usr/bin:/bin"), Timeout: time.Minute,
				})
				if err != nil {
					t.Fatal(err)
				}
				return text(r)
			}
			if out := run("grep -rl 'secret of the user' " + b.home + " /home /root; true"); out != "" && !strings.Contains(out, "No such file") {
				t.Errorf("secrets are read: %s", out)
			}
			for _, name := range secrets {
				if out := run("cat " + filepath.Join(b.home, name) + " || true"); strings.Contains(out, "secret of the user") {
					t.Errorf("%s is read", name)
				}
			}
			for script, want := range map[string]string{
				"tool": "tool ran", "prog": "linked ran", "cat ~/.pyenv/versions/x": "version", "cat ~/data/shown": "shown", "cat ~/.npmrc": "registry=https://r.test/\nloglevel=warn",
				"git config user.name": "Ada", "git config alias.st": "status", "git config --list | grep -ci 'authorization\\|helper' || true": "0", "cat ~/.config/git/ignore": "*.o",
				"cat " + temporary + "/a": "of the host", "echo x > " + temporary + "/b || echo held": "held",
				"echo new > ~/out/new && cat ~/out/new": "new", "echo x >> ~/out/.git/config || echo held": "held", "echo x > ~/data/new || echo held": "held", "echo x > ~/new || echo held": "held",
			} {
				if out := run(script); !strings.HasSuffix(out, want) {
					t.Errorf("%s: %q, want %q", script, out, want)
				}
			}
			if _, err := os.Stat(filepath.Join(b.home, "out/new")); err != nil {
				t.Error("what may be written is not:", err)
			}
			if out := run("ls -A ~ | tr '\\n' ' '"); out != ".config .gitconfig .npmrc .pyenv data out real tools work" {
				t.Errorf("the home holds %q", out)
			}
		})
	}
}

// A secret that the user makes, or replaces by a rename, while a command runs does not come to be
// there.
func TestAHomeStaysEmptyWhileACommandRuns(t *testing.T) {
	b := newViewBench(t)
	b.write(".netrc", "first\n")
	r := b.meanwhile("echo ready; read x; cat ~/.netrc ~/.aws/credentials 2>/dev/null > got; true", func() {
		b.write(".netrc.new", "second\n")
		b.write(".aws/credentials", "made\n")
		if err := os.Rename(filepath.Join(b.home, ".netrc.new"), filepath.Join(b.home, ".netrc")); err != nil {
			t.Fatal(err)
		}
	})
	if got := b.read("got"); got != "" {
		t.Errorf("a command read %q: %v", got, r.Messages)
	}
}

// A home as the workspace has no sandbox, and says why.
func TestAHomeIsNoWorkspace(t *testing.T) {
	b := newBench(t)
	s := sandbox.New(sandbox.Options{Workspace: b.home, Home: b.home, State: b.state, OwnPaths: []string{b.state}})
	t.Cleanup(s.Close)
	if r, err := s.Level(t.Context()); err != nil || r.Level != sandbox.NoLevel || !strings.Contains(r.Explanation, "your home folder") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestAHomeOfAnOrdinaryUser(t *testing.T) {
	asOrdinaryUser(t, "^Test(AHomeIsEmptyButForWhatIsAllowed|AHomeStaysEmptyWhileACommandRuns|WhatRulesDeny.*)$")
}

// What deny rules name is not there, or cannot be changed, for programs that never name it to adze.
func TestWhatRulesDenyIsHeldInside(t *testing.T) {
	need(t, "python3", "git")
	for _, means := range walled() {
		t.Run(string(means), func(t *testing.T) {
			b := newBench(t, means)
			b.write("work/Secrets/key", "hidden\n")
			b.write("work/deep/er/a.pem", "hidden\n")
			b.write("work/deep/er/b.txt", "shown\n")
			b.write("work/vendor/lib", "as it was\n")
			b.host("git init -q . && git add -A && git commit -qm first")
			b.ruled(means, asked{hidden: []string{"secrets/**", "**/*.pem"}, still: []string{"vendor/**"}})
			r := b.run(`python3 -c '
import os
for d, _, names in os.walk("."):
    if ".git" not in d:
        for n in names:
            try: print(n, open(os.path.join(d, n)).read().strip())
            except OSError: pass
'; echo x 2>/dev/null >> vendor/lib || echo held; mv vendor v 2>/dev/null || echo held; rm -rf deep/er/a.pem Secrets; true`)
			out := text(r)
			if strings.Contains(out, "hidden") || !strings.Contains(out, "b.txt shown") || strings.Count(out, "held") != 2 {
				t.Errorf("%s", out)
			}
			for name, want := range map[string]string{"Secrets/key": "hidden\n", "deep/er/a.pem": "hidden\n", "vendor/lib": "as it was\n"} {
				if got := b.read(name); got != want {
					t.Errorf("%s is %q now", name, got)
				}
			}
			if out := text(b.run("git show HEAD:Secrets/key")); out != "hidden" { // git's objects are not the file: said in the documents
				t.Errorf("%q", out)
			}
		})
	}
}

// In a view what a rule hides is a whiteout, which is never applied, whatever a command does at its
// name or around it.
func TestWhatRulesDenyIsNeverRemovedByAView(t *testing.T) {
	for name, script := range map[string]string{
		"read":              "cat secrets/key; cat deep/a.pem; ls -R .",
		"remove":            "rm -rf secrets deep",
		"replace":           "mkdir -p secrets; echo mine > secrets/key; echo mine > deep/a.pem",
		"another kind":      "rm -rf deep; echo file > deep; ln -s /etc secrets",
		"rename around":     "mv deep elsewhere",
		"rename over":       "mkdir x; echo mine > x/a.pem; mv x/a.pem deep/a.pem; mkdir y; mv y secrets",
		"clean":             "git clean -fdxq; git stash -uq; git checkout -q .",
		"stage the removal": "git add -A; git commit -qm second",
		"commit all":        "echo more >> shown; git commit -qam second",
	} {
		t.Run(name, func(t *testing.T) {
			b := newViewBench(t)
			b.write("work/secrets/key", "hidden\n")
			b.write("work/deep/a.pem", "hidden\n")
			b.write("work/shown", "shown\n")
			b.git("init", "-q")
			b.git("add", "-A")
			b.git("commit", "-qm", "first")
			b.ruled(sandbox.Namespaces, asked{hidden: []string{"secrets/**", "**/*.pem"}})
			r := b.apart(script)
			if strings.Contains(text(r), "hidden") {
				t.Errorf("it was read: %s", text(r))
			}
			for _, file := range []string{"secrets/key", "deep/a.pem"} {
				if got := b.read(file); got != "hidden\n" {
					t.Errorf("%s is %q now; told %v", file, got, r.Messages)
				}
			}
			if files := b.git("ls-tree", "-r", "--name-only", "HEAD"); files != "deep/a.pem\nsecrets/key\nshown" {
				t.Errorf("the commit has %q; told %v", files, r.Messages)
			}
			if staged := b.git("diff", "--cached", "--name-only"); staged != "" {
				t.Errorf("staged: %q; told %v", staged, r.Messages)
			}
		})
	}
}

// A commit of files that are named works beside files that a rule hides.
func TestWhatRulesDenyDoesNotKeepFromCommits(t *testing.T) {
	b := newViewBench(t)
	b.write("work/secrets/key", "hidden\n")
	b.write("work/shown", "shown\n")
	b.git("init", "-q")
	b.git("add", "-A")
	b.git("commit", "-qm", "first")
	b.ruled(sandbox.Namespaces, asked{hidden: []string{"secrets/**"}})
	if r := b.apart("echo more >> shown; git add shown; git commit -qm second"); r.Code != 0 || len(r.Messages) > 0 {
		t.Errorf("%s %v", text(r), r.Messages)
	}
	if got := b.git("log", "--format=%s"); got != "second\nfirst" {
		t.Error(got)
	}
	if status := b.git("status", "--short"); status != "" {
		t.Error(status)
	}
}

// A command that failed is told which of the places that it names are there but not shown, and how
// the user shows them.
func TestWhatACommandDoesNotSeeIsTold(t *testing.T) {
	b := newBench(t, sandbox.Namespaces)
	b.write(".tool/settings", "x\n")
	b.write("work/secrets/key", "hidden\n")
	b.ruled(sandbox.Namespaces, asked{hidden: []string{"secrets/**"}})
	for script, want := range map[string]string{
		"cat ~/.tool/settings":                    "do not see " + b.home + "/.tool/settings,",
		"cat ../other/file":                       "do not see " + b.home + "/other/file,",
		"echo no " + b.home + "/.tool: x; exit 1": "do not see " + b.home + "/.tool,",
		"cat $PLACE":                              "do not see " + b.home + "/.tool/settings,",
		"cat secrets/key":                         "a deny rule keeps " + b.work + "/secrets/key from commands",
		"cat ~/.tool/none ~/src/none /none ..":    "",
		"cat ~/.tool/settings || true":            "",
	} {
		r, err := proc.Supervisor{Cage: b.box}.Run(context.Background(), proc.Command{
			Argv: []string{"bash", "--noprofile", "--norc", "-c", script}, Dir: b.work, Env: append(b.env(), "PLACE="+b.home+"/.tool/settings"), Timeout: time.Minute,
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(r.Hidden, "; "); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
}

// What is shown in a hidden folder: a session's outputs in adze's own one, nothing writable there,
// and nothing in a folder that a rule denies.
func TestWhatIsShownInAHiddenFolder(t *testing.T) {
	for _, means := range walled() {
		b := newBench(t, means)
		own := filepath.Join(b.home, ".local/state/adze")
		b.write(".local/state/adze/output/this/call", "whole\n")
		b.write(".local/state/adze/output/other/call", "secret\n")
		b.write(".local/state/adze/jobs/one", "secret\n")
		b.write(".local/state/adze/sessions.db", "secret\n")
		b.write("data/in/x", "secret\n")
		b.box = sandbox.New(sandbox.Options{Workspace: b.work, Home: b.home, State: b.state, OwnPaths: []string{b.state, own}, Techniques: []sandbox.Technique{means},
			Rules: asked{work: b.home, read: []string{own + "/output/this", b.home + "/data/in"}, write: []string{own + "/jobs"}, hidden: []string{"data/**"}}})
		t.Cleanup(b.box.Close)
		r := b.run("cd ~ && find . -type f | xargs cat; cd " + own + "; echo ours > sessions.db; echo ours > output/this/call; echo ours > jobs/two")
		if got := r.Output.Head; !strings.HasPrefix(got, "whole\n") || strings.Contains(got, "secret") || strings.Count(got, ": Read-only file system")+strings.Count(got, "jobs/two: No such file") != 3 {
			t.Errorf("%s: %+v", means, r)
		}
	}
}
