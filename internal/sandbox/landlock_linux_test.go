package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/sandbox"
)

// planted are commands that leave something for a program of the user, who then runs git. Each
// would be executed outside.
var planted = map[string]string{
	"a submodule in a folder that cannot be read":  "mkdir -p n; git init -q n; git -C n config core.fsmonitor RAN; chmod 0311 n",
	"commondir in the repository":                  "mkdir -p evil; cp -r .git/. evil; printf '[core]\\n\\tfsmonitor = RAN\\n' >> evil/config; echo \"$PWD/evil\" > .git/commondir",
	"a folder of HEAD and commondir":               "mkdir -p m; echo ref: refs/heads/main > m/HEAD; echo ../evil > m/commondir; echo 'gitdir: m' > .git2; mv .git .was; mv .git2 .git",
	"the configuration, by its name":               "git config core.fsmonitor RAN",
	"the configuration, by another file":           "cp .git/config c; printf '[core]\\n\\tfsmonitor = RAN\\n' >> c; mv -f c .git/config",
	"the configuration, by a hard link":            "ln .git/config c; printf '[core]\\n\\tfsmonitor = RAN\\n' >> c",
	"the configuration, by a folder":               "cp -r .git g; printf '[core]\\n\\tfsmonitor = RAN\\n' >> g/config; mv .git old; mv g .git",
	"the configuration, by a link of a folder":     "ln -s .git l; printf '[core]\\n\\tfsmonitor = RAN\\n' >> l/config",
	"the configuration, by a descriptor":           "exec 7< .git/config; printf '[core]\\n\\tfsmonitor = RAN\\n' >> /proc/self/fd/7",
	"the configuration, from the temporary folder": "git init -q $TMPDIR/r; git -C $TMPDIR/r config core.fsmonitor RAN; mv $TMPDIR/r/.git/config .git/config",
	"a repository from the temporary folder":       "git init -q $TMPDIR/r; git -C $TMPDIR/r config core.fsmonitor RAN; mv $TMPDIR/r/.git sub/.git || cp -r $TMPDIR/r n",
	"a link to a repository elsewhere":             "git init -q $TMPDIR/r; git -C $TMPDIR/r config core.fsmonitor RAN; ln -s $TMPDIR/r n",
	"a bare repository":                            "git init -q --bare b; mkdir b/hooks; git -C b config core.fsmonitor RAN; mkdir -p n/objects n/refs; cp .git/config n/config; printf '[core]\\n\\tfsmonitor = RAN\\n' >> n/config; cp .git/HEAD n/HEAD || mv n/config n/x",
	"hooks":                                        "mkdir -p .git/hooks; printf '#!/bin/sh\\nRAN' > .git/hooks/post-index-change; chmod +x .git/hooks/post-index-change; touch file; git add file",
	"settings of an editor, deep":                  "mkdir -p pkg/.vscode; echo RAN > pkg/.vscode/tasks.json",
	"hooks of husky":                               "mkdir -p .husky; echo RAN > .husky/pre-commit",
	"a folder of an assistant":                     "mkdir -p .gemini .codex; echo RAN > .devcontainer.json; echo RAN > .codex/x",
	"a folder that is swapped while it is used":    "mkdir d; (for i in $(seq 200); do mv d e; ln -s .git d; rm d; mv e d; done) 2>/dev/null & for i in $(seq 200); do printf '[core]\\n\\tfsmonitor = RAN\\n' >> d/config; done 2>/dev/null; wait; true",
}

// Below Landlock the workspace is only read, so none of these changes is made: not at the end of a
// command and not while it runs.
func TestNothingIsPlantedBelowLandlock(t *testing.T) {
	need(t, "git")
	for name, script := range planted {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, sandbox.Landlock)
			b.host("git init -q -b main; mkdir sub; echo a > a; git add a; git commit -qm one")
			ran := filepath.Join(b.home, "ran")
			_, err := b.try(t.Context(), sandbox.ByMeans(b.box, sandbox.Landlock), strings.ReplaceAll(script, "RAN", "'touch "+ran+"'"))
			if err != nil {
				t.Fatal(err)
			}
			b.host("chmod -R u+rwX . ; git status >/dev/null; git -C n status >/dev/null 2>&1; git -C sub status >/dev/null 2>&1; git -C b status >/dev/null 2>&1; git commit -q --allow-empty -m two")
			if _, err := os.Lstat(ran); err == nil {
				t.Error("git of the user ran what a command had planted")
			}
			for _, at := range []string{"pkg/.vscode", ".husky", ".gemini", ".codex", ".devcontainer.json", ".git.held-by-adze"} {
				if _, err := os.Lstat(filepath.Join(b.work, at)); err == nil {
					t.Errorf("%s is there", at)
				}
			}
		})
	}
}

// Modes, owners, times and attributes of files outside stay, which Landlock alone would not hold.
func TestAttributesOutsideStayBelowLandlock(t *testing.T) {
	need(t, "python3")
	b := newBench(t, sandbox.Landlock)
	file := filepath.Join(b.other, "file")
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.try(t.Context(), sandbox.ByMeans(b.box, sandbox.Landlock), `python3 - ../other/file <<'X'
import os, sys
p = sys.argv[1]
f = os.open(p, os.O_RDONLY)
for what in (lambda: os.chmod(p, 0o777), lambda: os.fchmod(f, 0o777), lambda: os.utime(p, (1, 1)), lambda: os.utime(f, (1, 1)),
             lambda: os.chown(p, os.getuid(), os.getgid()), lambda: os.fchown(f, os.getuid(), os.getgid()), lambda: os.setxattr(p, "user.a", b"x"),
             lambda: os.setxattr(f, "user.a", b"x"), lambda: os.chmod("/proc/self/fd/%d" % f, 0o777), lambda: os.link(p, "h"), lambda: os.truncate(p, 0)):
    try:
        what()
        print("done")
    except OSError: pass
X`)
	after, err2 := os.Stat(file)
	if err != nil || err2 != nil || strings.Contains(text(r), "done") || after.Mode() != before.Mode() || after.ModTime() != before.ModTime() {
		t.Errorf("%v %v %s", err, err2, text(r))
	}
}

// Below Landlock a command reads the workspace, writes its temporary files and caches, and nothing
// else; of what it could not do it is known that the sandbox kept it from it.
func TestBelowLandlockACommandOnlyReads(t *testing.T) {
	b := newBench(t, sandbox.Landlock)
	b.write("work/file", "as it was\n")
	cage := sandbox.ByMeans(b.box, sandbox.Landlock)
	for script, barred := range map[string]string{
		"cat file > $TMPDIR/copy && grep was $TMPDIR/copy && mkdir -p $XDG_CACHE_HOME/x && echo y > $XDG_CACHE_HOME/x/y && (echo a | cat) && test -r file": "",
		"echo x > new":                 "write new, which is read only",
		"echo x >> file":               "write file, which is read only",
		"rm file":                      "write file, which is read only",
		"mkdir -p a/b":                 "write a, which is read only",
		"mv file other":                "write file, which is read only",
		"chmod +x file":                "write file, which is read only",
		"touch file":                   "write file, which is read only",
		"exec 3<>/dev/tcp/127.0.0.1/1": "connect to any host, because this sandbox has no network",
		"false":                        "-",
	} {
		r, err := b.try(t.Context(), cage, script)
		switch {
		case err != nil:
			t.Fatal(err)
		case barred == "":
			if r.Err() != nil {
				t.Errorf("%s: %s", script, text(r))
			}
		case r.Err() == nil, barred == "-" && len(r.Refused) > 0, barred != "-" && (len(r.Refused) == 0 || !strings.Contains(r.Refused[0].String(), barred)):
			t.Errorf("%s: %v\n%s", script, r.Refused, text(r))
		}
	}
	if data, err := os.ReadFile(filepath.Join(b.work, "file")); err != nil || string(data) != "as it was\n" {
		t.Errorf("the file holds %q: %v", data, err)
	}
}

// A rule that denies a file holds below Landlock, too.
func TestDenyRulesHoldBelowLandlock(t *testing.T) {
	b := newBench(t, sandbox.Landlock)
	b.write("work/notes/secret.txt", "hidden\n")
	b.write("work/notes/open.txt", "shown\n")
	b.ruled(sandbox.Landlock, asked{hidden: []string{"notes/secret.txt"}})
	r, err := b.try(t.Context(), sandbox.ByMeans(b.box, sandbox.Landlock), "cat notes/open.txt; cat notes/secret.txt; cat notes/*.txt")
	if err != nil || !strings.Contains(text(r), "shown") || strings.Contains(text(r), "hidden") {
		t.Errorf("%v\n%s", err, text(r))
	}
}

func TestLandlockAsAnOrdinaryUser(t *testing.T) {
	if why := unreachable(sandbox.Landlock); why != "" {
		t.Skip(why)
	}
	asOrdinaryUser(t, "^(TestNothingIsPlantedBelowLandlock|TestAttributesOutsideStayBelowLandlock|TestBelowLandlockACommandOnlyReads)$")
}
