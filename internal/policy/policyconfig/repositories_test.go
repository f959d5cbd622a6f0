package policyconfig

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/config"
	"adze/internal/config/paths"
	"adze/internal/files/workspace"
	"adze/internal/policy"
	"adze/tool"
)

// yard is a folder with a workspace in it and files outside of that.
type yard struct {
	testing.TB
	top, work string
}

func newYard(t *testing.T) yard {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"HOME", "GIT_DIR", "GIT_WORK_TREE"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", top)
	y := yard{t, top, filepath.Join(top, "w")}
	y.sh(`mkdir w && cd w && git init -q -b main && echo one > f && git add . && git commit -qm start`)
	return y
}

// sh runs a script above the workspace, with the plain git.
func (y yard) sh(script string) string {
	y.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = y.top
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + y.top, "GIT_CONFIG_NOSYSTEM=1", "TOP=" + y.top,
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		y.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

func (y yard) policy(flags Flags, asker policy.Asker) *policy.Policy {
	y.Helper()
	root, err := workspace.Open(y.work)
	if err != nil {
		y.Fatal(err)
	}
	y.Cleanup(func() { root.Close() })
	p, err := New(config.Config{}, flags, RunPaths{Root: root}, asker)
	if err != nil {
		y.Fatal(err)
	}
	return p
}

const marker = "planted-outside"

// strays are repositories that lead git out of the workspace, and a command that then shows what
// lies there.
func strays() map[string][3]string {
	private := `mkdir private && cd private && git init -q && echo ` + marker + ` > secret && git add . && git commit -qm s && cd ..; `
	return map[string][3]string{
		"core.worktree": {`mkdir private && echo ` + marker + ` > private/f; cd w && git config core.worktree "$TOP/private"`, "", "git diff"},
		"core.worktree that holds the workspace too": {`mkdir private; echo ` + marker + ` > private/secret; cd w && git config core.worktree ../..
			git -c core.worktree="$TOP" add -f --intent-to-add ../private/secret`, "", "git diff"},
		"core.worktree of a folder below": {`mkdir private && echo ` + marker + ` > private/f; cd w && git init -q sub && cd sub && echo x > f && git add f && git config core.worktree "$TOP/private"`, "sub", "git diff"},
		"a .git file":                     {private + `mkdir w/sub && echo "gitdir: $TOP/private/.git" > w/sub/.git`, "sub", "git log -p --stat"},
		"a .git that is a link":           {private + `mkdir w/sub && ln -s "$TOP/private/.git" w/sub/.git`, "sub", "git show HEAD"},
		"commondir":                       {private + `cd w && git init -q sub && cd sub && rm -r .git/objects .git/refs && echo "$TOP/private/.git" > .git/commondir`, "sub", "git show"},
		"objects that are a link":         {private + `cd w && git init -q sub && rm -r sub/.git/objects && ln -s "$TOP/private/.git/objects" sub/.git/objects && git -C "$TOP/private" rev-parse HEAD > "$TOP/h" && cp "$TOP/h" sub/.git/refs/heads/$(git -C sub symbolic-ref --short HEAD)`, "sub", "git show"},
	}
}

// A repository in the workspace may say that its files lie elsewhere: git would show them, and no
// word of the command names them.
func TestARepositoryCannotLeadGitOutOfTheWorkspaceUnasked(t *testing.T) {
	for name, c := range strays() {
		t.Run(name, func(t *testing.T) {
			y := newYard(t)
			plant, dir, command := c[0], c[1], c[2]
			y.sh(plant)
			// What it would show shows that the case is one.
			if out := y.sh("cd w/" + dir + " && " + command + " || :"); !strings.Contains(out, marker) {
				t.Fatalf("the plain %s shows nothing from outside:\n%s", command, out)
			}
			lines := []string{command, "git status"}
			if dir != "" {
				lines = []string{"cd " + dir + " && " + command, "git -C " + dir + strings.TrimPrefix(command, "git")}
			}
			for _, line := range lines {
				for _, rules := range [][]string{nil, {"execute(git **)"}, {"execute(" + command + ")"}} {
					if d := verdict(t, y.policy(Flags{Allow: rules}, nil), line); d.Allow {
						t.Errorf("%s ran with the rules %q", line, rules)
					}
				}
			}
		})
	}
}

// What the user made with git's own commands stays as quick as it was.
func TestRepositoriesThatPeopleHaveAreLookedAtUnasked(t *testing.T) {
	y := newYard(t)
	y.sh(`git init -q other && cd other && echo y > y && git add . && git commit -qm y; cd ../w
		git worktree add -q ../linked 2>/dev/null; git worktree add -q below 2>/dev/null; mkdir plain
		git -c protocol.file.allow=always submodule --quiet add "$TOP/other" module 2>/dev/null`)
	p := y.policy(Flags{}, nil)
	for _, line := range []string{"git status", "git diff HEAD", "git -C below log -p", "cd module && git show", "cd plain && git status", "cd .git && git log --oneline"} {
		if d := verdict(t, p, line); !d.Allow {
			t.Errorf("%s is asked for: %s", line, d.Reason)
		}
	}
	for _, dir := range []string{"linked", "w/module", "w/plain"} {
		y.work = filepath.Join(y.top, dir)
		if d := verdict(t, y.policy(Flags{}, nil), "git log -p"); !d.Allow {
			t.Errorf("in %s it is asked for: %s", dir, d.Reason)
		}
	}
}

// A rule for git does not speak of the programs that a repository brings: they run where a user
// says so.
func TestHooksAreAskedForAndNotLeftOut(t *testing.T) {
	y := newYard(t)
	y.sh(`cd w && mkdir .husky sub && printf '#!/bin/sh\n' > .husky/pre-commit && chmod +x .husky/pre-commit && git config core.hooksPath .husky
		git init -q bare && printf '#!/bin/sh\n' > bare/.git/hooks/pre-push && chmod +x bare/.git/hooks/pre-push
		git init -q none && printf '#!/bin/sh\n' > none/.git/hooks/pre-commit.sample && chmod +x none/.git/hooks/pre-commit.sample
		printf '#!/bin/sh\n' > none/.git/hooks/pre-commit`)
	flags := Flags{Allow: []string{"execute(git **)", "execute(timeout **)"}}
	headless := y.policy(flags, nil)
	for _, c := range []struct {
		line string
		asks bool
	}{
		{"git commit -m x", true}, {"cd sub && git commit -m x", true}, {"git -C sub commit -m x", true}, {"timeout 9 git commit -m x", true},
		{"git add . && git commit -m x", true}, {"git mycommit", true}, {"git commit --no-verify -m x", false}, {"git add .", false},
		{"git push", false}, {"git status", false}, {"git -C bare push", true}, {"git -C bare push --no-verify", false}, {"git -C bare commit -m x", false},
		{"git -C none commit -m x", false},
	} {
		d := verdict(t, headless, c.line)
		if d.Allow == c.asks {
			t.Errorf("%s: %+v", c.line, d)
		}
		if c.asks && !strings.Contains(d.Reason, "hooks (pre-") || c.asks && !strings.Contains(d.Reason, "--yolo") {
			t.Errorf("%s: the reason is %q", c.line, d.Reason)
		}
	}
	asked := ""
	p := y.policy(flags, func(_ context.Context, _ tool.Question, prompt policy.Prompt) (policy.Answer, error) {
		asked = prompt.Items[0].Reason
		return policy.Answer{Choice: policy.Once}, nil
	})
	if d := verdict(t, p, "git commit -m x"); !d.Allow || d.ByRule || !strings.Contains(asked, "pre-commit") || strings.Contains(asked, "--no-verify") {
		t.Errorf("after a yes: %+v, asked %q", d, asked)
	}
	flags.Mode = "yolo"
	if d := verdict(t, y.policy(flags, nil), "git commit -m x"); !d.Allow || d.ByRule {
		t.Errorf("in yolo: %+v", d)
	}
}

// Hooks of git's configuration (hook.NAME.command, git 2.54) are asked for as files are.
func TestConfiguredHooksOfARepositoryAreAskedFor(t *testing.T) {
	y := newYard(t)
	y.sh(`git config --global hook.mine.command true; git config --global hook.mine.event pre-commit
		cd w && git config hook.lint.command "touch ran" && git config hook.lint.event pre-commit && git config --add hook.lint.event pre-push
		git init -q off && git -C off config hook.lint.command true && git -C off config hook.lint.event pre-commit && git -C off config hook.lint.enabled false
		git init -q again && git -C again config hook.mine.event pre-push
		git init -q inc && git -C inc config include.path ../more && printf '[hook "a b"]\ncommand = true\nevent = post-merge\n' > inc/more
		git init -q none`)
	p := y.policy(Flags{Allow: []string{"execute(git **)"}}, nil)
	for _, c := range []struct{ line, names string }{
		{"git commit -m x", "hooks (hook.lint.command at pre-commit)"}, {"git push", "hook.lint.command at pre-push"}, {"timeout 5 git commit -m x", "hook.lint.command"},
		{"git hook run pre-commit", "hook.lint.command"}, {"git mycommit", "hook.lint.command"}, {"git commit --no-verify -m x", ""}, {"git add .", ""}, {"git status", ""},
		{"git -C off commit -m x", ""}, {"git -C again push", "hook.mine.command at pre-push"}, {"git -C inc merge x", "hook.a b.command at post-merge"},
		{"git -C none commit -m x", ""},
	} {
		if d := verdict(t, p, c.line); d.Allow != (c.names == "") || !strings.Contains(d.Reason, c.names) {
			t.Errorf("%s: allowed %v, the reason is %q", c.line, d.Allow, d.Reason)
		}
	}
}

// What a user has seen runs as it is; beside what they have not, no repository has a say, and hooks
// are asked for again.
func TestAYesForOneProgramIsNoneForTheRepositoryOfAnother(t *testing.T) {
	y := newYard(t)
	y.sh(`cd w && printf '#!/bin/sh\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit`)
	asked := 0
	p := y.policy(Flags{}, func(_ context.Context, _ tool.Question, prompt policy.Prompt) (policy.Answer, error) {
		asked++
		return policy.Answer{Choice: policy.Session}, nil
	})
	verdict(t, p, "make")
	verdict(t, p, "git commit -m x")
	if asked != 2 {
		t.Fatalf("asked %d times", asked)
	}
	if d := verdict(t, p, "make; git commit -m x"); asked != 2 || !d.Allow || d.ByRule {
		t.Errorf("what was seen: %+v, asked %d times", d, asked)
	}
	if d := verdict(t, p, "git status; make"); asked != 2 || !d.Allow || !d.ByRule {
		t.Errorf("git status beside make is not guarded: %+v, asked %d times", d, asked)
	}
	if d := verdict(t, p, "git status; git commit -m x"); asked != 3 || !d.Allow || d.ByRule {
		t.Errorf("hooks would be left out: %+v, asked %d times", d, asked)
	}
}

// Hooks that the user has for all repositories are their own, and run as ever.
func TestThePersonsOwnHooksAreNotAskedFor(t *testing.T) {
	y := newYard(t)
	y.sh(`mkdir hooks && printf '#!/bin/sh\n' > hooks/pre-commit && chmod +x hooks/pre-commit && git config --global core.hooksPath "$TOP/hooks"`)
	if d := verdict(t, y.policy(Flags{Allow: []string{"execute(git **)"}}, nil), "git commit -m x"); !d.Allow {
		t.Errorf("%+v", d)
	}
}

// TestWhatAdzeKeepsDoesNotHideTheRepository: the rules that every run has for adze's own files
// leave git to show its history unasked.
func TestWhatAdzeKeepsDoesNotHideTheRepository(t *testing.T) {
	y := newYard(t)
	root, err := workspace.Open(y.work)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	state := filepath.Join(y.top, ".local", "state", "adze")
	at := paths.Places{Config: filepath.Join(y.top, ".config", "adze"), State: state, Keys: filepath.Join(state, "keys.json"), Spill: filepath.Join(state, "output")}
	p, err := New(config.Config{}, Flags{}, RunPaths{Root: root, Places: at, Spill: filepath.Join(state, "output", "1")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"git diff", "git show HEAD", "git log -p", "git grep one"} {
		if d := verdict(t, p, line); !d.Allow {
			t.Errorf("%s: %s", line, d.Reason)
		}
	}
	if d, err := p.Decide(t.Context(), tool.Question{Needs: []tool.Need{{Permission: tool.Read, Target: at.Keys}}}); err != nil || d.Allow {
		t.Errorf("the keys may be read: %v", err)
	}
}

// TestSubcommandsOfALaterGit: those that only look run unasked where git has them: an older git
// runs an alias of that name. Versions are as git 2.39.5, 2.52.0 on Windows and 2.55 from its
// source say them.
func TestSubcommandsOfALaterGit(t *testing.T) {
	for said, allowed := range map[string]bool{"2.39.5": false, "2.51.2": false, "2.52.0.windows.1": true, "2.55.GIT": true, "x": false} {
		y := newYard(t)
		y.sh(`mkdir bin && printf '#!/bin/sh\nfor w; do [ "$w" = version ] && echo "git version ` + said + `" && exit; done\nPATH=${PATH#*:} exec git "$@"\n' > bin/git && chmod +x bin/git`)
		t.Setenv("PATH", y.top+"/bin:"+os.Getenv("PATH"))
		p := y.policy(Flags{}, nil)
		for _, line := range []string{"git refs list --count=3", "git refs exists refs/heads/main", "git repo info --all", "git repo structure", "git last-modified -r HEAD -- f"} {
			if d := verdict(t, p, line); d.Allow != allowed {
				t.Errorf("%s: %s: %t, %s", said, line, d.Allow, d.Reason)
			}
		}
		for _, line := range []string{"git refs migrate --ref-format=files", "git refs optimize", "git history reword HEAD --dry-run", "git replay --onto main HEAD", "git backfill", "git repo", "find . -exec git refs list ;"} {
			if d := verdict(t, p, line); d.Allow {
				t.Errorf("%s: %s ran", said, line)
			}
		}
	}
}
