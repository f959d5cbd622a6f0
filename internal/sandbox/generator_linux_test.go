package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"adze/internal/sandbox/proc"
	"adze/internal/testkit/effort"
)

// mischiefVariable has a test binary be the command that makes attempts: a seed, how many, and the
// folder that only programs outside can write to.
const mischiefVariable = "SANDBOX_MISCHIEF"

// TestMischief is the command that the next test runs.
func TestMischief(t *testing.T) {
	order := os.Getenv(mischiefVariable)
	if order == "" {
		t.Skip("for another test")
	}
	var seed uint64
	var count int
	m := mischief{}
	if _, err := fmt.Sscan(order, &seed, &count, &m.canary); err != nil {
		t.Fatal(err)
	}
	m.r = rand.New(rand.NewPCG(seed, 7))
	for m.id = range count {
		m.attempt()
	}
}

// TestRandomAttemptsRunNothingOutside makes random changes of files, folders, links, modes, times
// and sockets in a view, which would have git run a program later, while an editor asks for the
// status all the time. Some commands are killed. Then the user works in each repository with the
// real git: nothing that was planted may run. The same attempts without a sandbox must run
// something, or they prove nothing. ADZE_TESTS says how many, ADZE_SEED which.
func TestRandomAttemptsRunNothingOutside(t *testing.T) {
	need(t, "git", "bash")
	const few, aBatch, alone = 8, 60, 6
	batch := effort.Rounds(aBatch, aBatch, 1500)
	attempts := effort.Rounds(2*batch, 4*batch, 100_000)
	seed := effort.Seed(t, rand.Uint64())
	b := newViewBench(t)
	m := newMisuse(b)
	made := 0
	for n := uint64(0); made < attempts; n++ {
		m.prepare()
		killed := n%5 == 4
		m.batch(b.box, seed+n, batch, killed)
		if ran := m.ran(); len(ran) > 0 {
			t.Fatalf("seed %d: %v ran outside; with ADZE_SEED=%d it is the first batch", seed+n, ran, seed+n)
		}
		made += batch
	}
	kinds := map[string]int{}
	for n := range uint64(few) {
		m.prepare()
		m.batch(nil, seed+n, alone, false)
		for _, name := range m.ran() {
			_, kind, _ := strings.Cut(name, "-")
			kinds[kind]++
		}
	}
	if len(kinds) < 4 {
		t.Errorf("without a sandbox only %v ran: the attempts prove little", kinds)
	}
	t.Logf("seed %d: %d attempts as user %d, 0 ran outside; of %d without a sandbox ran %v", seed, made, os.Getuid(), few*alone, kinds)
}

// The same as a user without rights.
func TestRandomAttemptsOfAnOrdinaryUser(t *testing.T) {
	asOrdinaryUser(t, "^TestRandomAttemptsRunNothingOutside$")
}

// misuse is a workspace with repositories of all kinds, and what looks whether something ran.
type misuse struct {
	*bench
	canary, binary, template string
}

func newMisuse(b *bench) *misuse {
	m := &misuse{b, filepath.Join(b.top, "canary"), filepath.Join(b.top, "mischief"), filepath.Join(b.top, "template")}
	self, err := os.ReadFile("/proc/self/exe")
	if err := errors.Join(err, os.Mkdir(m.canary, 0o755), os.WriteFile(m.binary, self, 0o755)); err != nil {
		b.t.Fatal(err)
	}
	b.host(`git init -q --bare -b main ../../origin && git init -q -b main . && mkdir -p src/deep && echo a >src/a.go && echo b >src/deep/b.txt && echo c >f && git add -A && git commit -qm one &&
		git remote add origin "$PWD/../../origin" && git push -q origin main && git init -q -b main lib && (cd lib && echo l >l && git add l && git commit -qm l) && echo lib >.git/info/exclude &&
		git -c protocol.file.allow=always submodule add -q "$PWD/../../origin" sub && git commit -qm sub && git worktree add -q wt && echo wt >>.git/info/exclude && cp -a . ` + m.template)
	return m
}

// prepare puts the workspace back.
func (m *misuse) prepare() {
	m.host(`chmod -R u+rwx . && find . -mindepth 1 -delete && cp -a ` + m.template + `/. .`)
}

// batch runs attempts in one command, and then works as the user does.
func (m *misuse) batch(cage proc.Cage, seed uint64, count int, killed bool) {
	m.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var editor sync.WaitGroup
	editor.Go(func() {
		for ctx.Err() == nil {
			m.user(`git status --porcelain >/dev/null`)
		}
	})
	c := proc.Command{Argv: []string{m.binary, "-test.run=^TestMischief$"}, Dir: m.work, Env: append(m.env(), fmt.Sprintf("%s=%d %d %s", mischiefVariable, seed, count, m.canary)), Transaction: true, Timeout: time.Minute}
	if killed {
		c.Timeout = time.Duration(20+seed%60) * time.Millisecond
	}
	r, err := proc.Supervisor{Cage: cage}.Run(context.Background(), c)
	stop()
	editor.Wait()
	if err != nil || !killed && r.Err() != nil {
		m.t.Fatalf("seed %d: %v %v %s", seed, err, r.Err(), r.Output.Head)
	}
	m.user(`for at in . sub lib wt t*/ t*/*/; do
			[ -e "$at/.git" ] || [ -e "$at/HEAD" ] || continue
			(cd "$at" 2>/dev/null && git status >/dev/null && git diff >/dev/null)
		done
		git fetch -q; for at in . sub lib wt; do (cd $at && echo more >>src/a.go; git add -A; git commit -qm more; git stash -q; git checkout -q -b new; git log -1 >/dev/null); done`)
}

// user runs git as the user and their editor do; what fails of it does not matter.
func (m *misuse) user(script string) {
	cmd := exec.Command("timeout", "20", "bash", "--noprofile", "--norc", "-c", script)
	cmd.Dir, cmd.Env = m.work, append(m.env(), "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true")
	_ = cmd.Run()
}

// ran lists the attempts that ran something outside, and forgets them.
func (m *misuse) ran() (names []string) {
	m.t.Helper()
	all, err := os.ReadDir(m.canary)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, e := range all {
		names = append(names, e.Name())
		_ = os.Remove(filepath.Join(m.canary, e.Name()))
	}
	return names
}

// mischief makes attempts in the workspace that it is started in. What fails of one does not
// matter.
type mischief struct {
	r      *rand.Rand
	id     int
	canary string
}

func (m *mischief) one(of ...string) string { return of[m.r.IntN(len(of))] }

// payload is a command line that tells that it ran.
func (m *mischief) payload(kind string) string {
	return fmt.Sprintf("touch %s/%d-%s", m.canary, m.id, kind)
}

// put writes a file in one of the ways in which programs do.
func (m *mischief) put(path, content string, mode os.FileMode) {
	_ = os.MkdirAll(filepath.Dir(path), 0o755)
	temp := fmt.Sprintf("%s.%d", path, m.id)
	switch m.r.IntN(6) {
	case 0:
		_ = os.WriteFile(temp, []byte(content), mode)
		_ = os.Rename(temp, path)
	case 1:
		_ = os.WriteFile(temp, []byte(content), mode)
		_ = os.Remove(path)
		_ = os.Link(temp, path)
	case 2:
		_ = os.WriteFile(temp, []byte(content), mode)
		_ = os.Remove(path)
		_ = os.Symlink(filepath.Base(temp), path)
	case 3: // below a folder that has another name meanwhile
		dir := filepath.Dir(path)
		away := fmt.Sprintf("%s-away-%d", dir, m.id)
		if dir != "." && os.Rename(dir, away) == nil {
			m.write(filepath.Join(away, filepath.Base(path)), content, mode)
			_ = os.Rename(away, dir)
			return
		}
		m.write(path, content, mode)
	default:
		m.write(path, content, mode)
	}
	_ = os.Chmod(path, mode)
}

// write appends to a file, or makes it.
func (m *mischief) write(path, content string, mode os.FileMode) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, mode)
	if err == nil {
		_, _ = f.WriteString(content)
		_ = f.Close()
	}
}

// script makes a program and returns its path, absolute.
func (m *mischief) script(kind, path string) string {
	_ = os.MkdirAll(filepath.Dir(path), 0o755)
	_ = os.WriteFile(path, []byte("#!/bin/sh\n"+m.payload(kind)+"\ncat 2>/dev/null\n"), 0o755)
	_ = os.Chmod(path, 0o755)
	full, _ := filepath.Abs(path)
	return full
}

// repository is a folder that git may take for a repository, and the work tree that it is of.
func (m *mischief) repository() (git, work string) {
	own := fmt.Sprintf("t%d", m.id)
	if m.r.IntN(8) == 0 {
		own = m.one("sub", "src", "src/deep", ".github", "t ", "T", "..t") + m.one("", "/x")
	}
	bare := func(at string) string {
		for _, name := range []string{"objects", "refs/heads"} {
			_ = os.MkdirAll(filepath.Join(at, name), 0o755)
		}
		_ = os.WriteFile(filepath.Join(at, "HEAD"), []byte("ref: refs/heads/main\n"), 0o644)
		_ = os.WriteFile(filepath.Join(at, "config"), []byte("[core]\n\trepositoryformatversion = 0\n"), 0o644)
		return at
	}
	switch m.r.IntN(12) {
	case 0, 1:
		return ".git", "."
	case 2:
		return ".git/modules/sub", "sub"
	case 3:
		return "lib/.git", "lib"
	case 4:
		return ".git/worktrees/wt", "wt"
	case 5, 6:
		return bare(own + "/.git"), own
	case 7:
		_ = bare(own)
		return own, own
	case 8: // a file that leads to it
		_ = os.MkdirAll(own, 0o755)
		_ = os.Remove(own + "/.git")
		_ = os.WriteFile(own+"/.git", []byte(fmt.Sprintf("gitdir: ../g%d\n", m.id)), 0o644)
		return bare(fmt.Sprintf("g%d", m.id)), own
	case 9: // a link
		_ = os.MkdirAll(own, 0o755)
		_ = os.Symlink(fmt.Sprintf("../g%d", m.id), own+"/.git")
		return bare(fmt.Sprintf("g%d", m.id)), own
	case 10: // instead of the submodule's
		_ = os.Remove("sub/.git")
		return bare("sub/.git"), "sub"
	}
	_ = os.MkdirAll(own+"/.git", 0o755) // nothing but these two
	_ = os.WriteFile(own+"/.git/HEAD", []byte("ref: refs/heads/main\n"), 0o644)
	_ = os.WriteFile(own+"/.git/commondir", []byte(fmt.Sprintf("../../g%d\n", m.id)), 0o644)
	return bare(fmt.Sprintf("g%d", m.id)), own
}

var hookNames = []string{"pre-commit", "post-commit", "post-checkout", "reference-transaction", "post-index-change", "prepare-commit-msg", "commit-msg"}

// attempt is one random program.
func (m *mischief) attempt() {
	git, work := m.repository()
	config := filepath.Join(git, m.one("config", "config", "config", "config.worktree"))
	if strings.HasSuffix(config, ".worktree") {
		m.put(filepath.Join(git, "config"), "[extensions]\n\tworktreeConfig = true\n", 0o644)
	}
	attributes := func(what string) {
		m.put(m.one(filepath.Join(work, ".gitattributes"), filepath.Join(git, "info/attributes")), what, 0o644)
		m.write(filepath.Join(work, "f"), "changed\n", 0o644)
	}
	kind := m.one("fsmonitor", "fsmonitor-script", "hooks", "hooksPath", "include", "includeIf", "filter", "process", "diff", "uploadpack", "ssh", "gpg", "commondir", "gitdir", "husky", "rewritten", "alternate", "socket")
	program := filepath.Join(work, fmt.Sprintf("p%d", m.id))
	switch kind {
	case "fsmonitor":
		m.put(config, fmt.Sprintf("[core]\n\tfsmonitor = %q\n", m.payload(kind)+"; false"), 0o644)
	case "fsmonitor-script":
		m.put(config, "[core]\n\tfsmonitor = "+m.script(kind, program)+"\n", 0o644)
	case "hooks":
		m.script(kind, filepath.Join(git, "hooks", m.one(hookNames...)))
	case "hooksPath":
		at := filepath.Join(work, m.one(".husky/_", ".githooks", "src/deep"))
		m.script(kind, filepath.Join(at, m.one(hookNames...)))
		full, _ := filepath.Abs(at)
		m.put(config, "[core]\n\thooksPath = "+full+"\n", 0o644)
	case "husky":
		m.script(kind, filepath.Join(m.one(".husky", "lib/.husky", ".git/hooks.d"), m.one(hookNames...)))
	case "include", "includeIf":
		at, _ := filepath.Abs(fmt.Sprintf("i%d", m.id))
		m.put(at, fmt.Sprintf("[core]\n\tfsmonitor = %q\n", m.payload(kind)+"; false"), 0o644)
		head := "[include]"
		if kind == "includeIf" {
			head = `[includeIf "gitdir:**"]`
		}
		m.put(config, head+"\n\tpath = "+at+"\n", 0o644)
	case "filter", "process":
		name := map[string]string{"filter": "clean", "process": "process"}[kind]
		m.put(config, fmt.Sprintf("[filter \"x\"]\n\t%s = %q\n", name, m.payload(kind)+"; cat"), 0o644)
		attributes("* filter=x\n")
	case "diff":
		m.put(config, fmt.Sprintf("[diff \"x\"]\n\t%s = %q\n", m.one("command", "textconv"), m.payload(kind)+"; cat"), 0o644)
		attributes("* diff=x\n")
	case "uploadpack":
		m.put(config, fmt.Sprintf("[remote \"origin\"]\n\tuploadpack = %q\n", m.payload(kind)+"; git-upload-pack"), 0o644)
	case "ssh":
		m.put(config, fmt.Sprintf("[core]\n\tsshCommand = %q\n[remote \"origin\"]\n\turl = ssh://nowhere/x\n", m.payload(kind)+"; false"), 0o644)
	case "gpg":
		m.put(config, "[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = "+m.script(kind, program)+"\n", 0o644)
	case "commondir":
		other := fmt.Sprintf("c%d", m.id)
		m.put(filepath.Join(other, "config"), fmt.Sprintf("[core]\n\trepositoryformatversion = 0\n\tfsmonitor = %q\n", m.payload(kind)+"; false"), 0o644)
		for _, name := range []string{"objects", "refs"} {
			_ = os.MkdirAll(filepath.Join(other, name), 0o755)
		}
		full, _ := filepath.Abs(other)
		m.put(filepath.Join(git, "commondir"), full+"\n", 0o644)
	case "gitdir":
		m.put(filepath.Join(git, "gitdir"), m.payload(kind)+"\n", 0o644)
		m.put(config, fmt.Sprintf("[core]\n\tfsmonitor = %q\n\tworktree = ..\n", m.payload(kind)+"; false"), 0o644)
	case "rewritten": // the repository as a whole is another one
		away := fmt.Sprintf("r%d", m.id)
		if m.r.IntN(10) == 0 && os.Rename(git, away) == nil {
			_ = os.CopyFS(git, os.DirFS(away))
		}
		m.put(config, fmt.Sprintf("[core]\n\tfsmonitor = %q\n", m.payload(kind)+"; false"), 0o644)
	case "alternate":
		m.put(filepath.Join(git, "objects/info/alternates"), "/var/lib/nowhere\n", 0o644)
		m.put(filepath.Join(git, "rebase-merge/git-rebase-todo"), "exec "+m.payload(kind)+"\n", 0o644)
	case "socket":
		_ = unix.Mkfifo(filepath.Join(git, "index.lock"), 0o644)
		if fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); err == nil {
			_ = unix.Bind(fd, &unix.SockaddrUnix{Name: filepath.Join(git, "fsmonitor--daemon.ipc")})
			_ = unix.Close(fd)
		}
		_ = os.Remove(filepath.Join(git, "index.lock"))
	}
	m.cover(git, work)
}

// cover does something so that what was planted is not found, or is taken for old.
func (m *mischief) cover(git, work string) {
	own := !slices.Contains([]string{".", "sub", "lib", "wt", "src"}, work)
	switch m.r.IntN(10) {
	case 0:
		if own {
			_ = os.Chmod(work, 0o311)
		}
	case 1:
		if own {
			_ = os.Chmod(git, 0o111)
		}
	case 2:
		long := time.Unix(1e9, 0)
		_ = os.Chtimes(filepath.Join(git, "config"), long, long)
		_ = os.Chtimes(git, long, long)
	case 3:
		if own {
			_ = os.Rename(work, work+"-")
			_ = os.Rename(work+"-", fmt.Sprintf("t%d", m.id))
		}
	case 4:
		_ = os.Symlink(work, fmt.Sprintf("t%d-link", m.id))
	}
}
