package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRevisionsAreNeverOptions(t *testing.T) {
	d := newDesk(t)
	r := d.open()
	for _, rev := range []string{"--all", "-n1", "^HEAD", "", "HEAD\n--all", "a\x00b", strings.Repeat("x", 300), "--output=x..HEAD", "HEAD..--all", "HEAD...^main"} {
		if _, err := r.Diff(t.Context(), DiffQuery{Path: ".", Base: rev}); rev != "" && !errors.Is(err, ErrRevision) {
			t.Errorf("diff with %q: %v, want ErrRevision", rev, err)
		}
		if hash, err := r.Resolve(t.Context(), rev); !strings.Contains(rev, "..") && !errors.Is(err, ErrRevision) {
			t.Errorf("%q became %q, %v", rev, hash, err)
		}
	}
	if d.sh("test ! -e x"); !IsHash(must(r.Resolve(t.Context(), "HEAD~1"))) {
		t.Error("HEAD~1 is no hash")
	}
}

func must(s string, err error) string {
	if err != nil {
		return err.Error()
	}
	return s
}

func TestErrorsSayTheNextMove(t *testing.T) {
	d := newDesk(t)
	for name, c := range map[string]struct {
		git  Git
		dir  string
		is   error
		says string
	}{
		"no git":        {Git{Env: []string{"PATH=" + d.home}}, d.work, ErrMissing, "ask the user to install it"},
		"no repository": {d.git(), d.home, ErrNotRepository, "git init"},
		"inside .git":   {d.git(), filepath.Join(d.work, ".git"), ErrNotRepository, "name a folder of files"},
	} {
		_, err := c.git.Open(t.Context(), c.dir)
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	d.sh(`git config core.worktree "$HOME"`)
	if _, err := d.git().Open(t.Context(), d.work); err == nil || !strings.Contains(err.Error(), "core.worktree") {
		t.Errorf("a work tree elsewhere: %v", err)
	}
}

// git 2.39.5 name an extension that they do not know in a second line.
func TestAnUnknownExtensionIsNamed(t *testing.T) {
	d := newDesk(t)
	d.sh("git config core.repositoryFormatVersion 1; git config extensions.adzeTest x")
	if _, err := d.git().Open(t.Context(), d.work); err == nil || !strings.Contains(strings.ToLower(err.Error()), "extension found: adzetest") {
		t.Errorf("the error names no extension: %v", err)
	}
}

// git 2.39.5 write the index in a diff of a file whose time alone is new, also without
// optional locks, unless diff.autoRefreshIndex is false.
func TestADiffLeavesTheIndexAsItIs(t *testing.T) {
	d := newDesk(t)
	d.sh("touch -d 2020-01-01 f; echo more >> g")
	index := filepath.Join(d.work, ".git", "index")
	before, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	diff, err := d.open().Diff(t.Context(), DiffQuery{Path: ".", MaxFiles: 10, MaxBytes: 1 << 16})
	if err != nil || diff.TotalFiles != 1 || strings.Contains(diff.Patch, "b/f") {
		t.Errorf("a file with a new time alone counts: %+v, %v", diff, err)
	}
	env := Quiet(d.environ())
	settings, _ := (Git{Env: env}).Guard(t.Context(), true, d.work)
	cmd := exec.Command("git", "diff")
	cmd.Dir, cmd.Env = d.work, append(env, settings...)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "+more") {
		t.Errorf("a diff of a command that only looks: %s, %v", out, err)
	}
	if after, err := os.ReadFile(index); err != nil || string(after) != string(before) {
		t.Errorf("the index was written, %v", err)
	}
}

func TestTheContextAndTheTimeoutEndGit(t *testing.T) {
	d := newDesk(t)
	d.sh(`mkfifo .git/info/exclude2; git config core.excludesFile "$WORK/.git/info/exclude2"; echo x > new`) // a status blocks on it
	r := d.open()
	r.git.Timeout = 50 * time.Millisecond
	if _, err := r.Status(t.Context(), ".", UntrackedAll, 1); !isCode(err, CodeTimeout) {
		t.Errorf("timeout: %v", err)
	}
	r.git.Timeout = 0
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, context.Canceled)
	defer cancel()
	if _, err := r.Status(ctx, ".", UntrackedAll, 1); !isCode(err, CodeAborted) || !errors.Is(err, context.Canceled) {
		t.Errorf("abort: %v", err)
	}
}

func TestElsewhereNamesWhatNothingVouchesFor(t *testing.T) {
	for name, c := range map[string]struct {
		plant, dir string
		want       []string // below the folder that holds the work tree
	}{
		"a plain repository":      {plant: "true"},
		"a repository above":      {plant: "mkdir sub", dir: "sub"},
		"a linked work tree":      {plant: "git worktree add -q ../linked", dir: "../linked"},
		"a submodule":             {plant: "git init -q ../s; git -C ../s commit -q --allow-empty -m s; git -c protocol.file.allow=always submodule --quiet add ../s sub", dir: "sub"},
		"a file that leads away":  {plant: "git init -q ../private; rm -rf .git; echo gitdir: ../private/.git > .git", want: []string{"private/.git"}},
		"a link that leads away":  {plant: "git init -q ../private; rm -rf .git; ln -s ../private/.git .git", want: []string{"private/.git"}},
		"a common dir elsewhere":  {plant: "git init -q ../private; echo ../../private/.git > .git/commondir", want: []string{"private/.git"}},
		"linked objects":          {plant: "mv .git/objects ../objects; ln -s ../../objects .git/objects", want: []string{"objects"}},
		"one linked object":       {plant: "o=$(ls .git/objects | head -1); mv .git/objects/$o ../$o; ln -s ../../../$o .git/objects/$o", want: []string{"*"}},
		"alternates":              {plant: "git init -q ../private; echo ../../../private/.git/objects > .git/objects/info/alternates", want: []string{"private/.git/objects"}},
		"alternates of those too": {plant: "git init -q ../a; git init -q ../b; echo ../../../a/.git/objects > .git/objects/info/alternates; echo ../../../b/.git/objects > ../a/.git/objects/info/alternates", want: []string{"a/.git/objects", "b/.git/objects"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.sh(c.plant)
			root := filepath.Join(d.work, c.dir)
			r, err := d.git().Open(t.Context(), root)
			if err != nil {
				t.Fatal(err)
			}
			found, err := r.ExternalPaths(t.Context(), root)
			if err != nil || len(found) != len(c.want) {
				t.Fatalf("found %q, %v; want %q", found, err, c.want)
			}
			for i, f := range found {
				if rel, _ := filepath.Rel(filepath.Dir(d.work), f); c.want[i] != "*" && rel != c.want[i] {
					t.Errorf("found %q, want %q", found, c.want)
				}
			}
		})
	}
}

func TestAlternatesThatCannotBeCheckedAreRefused(t *testing.T) {
	for name, plant := range map[string]string{
		"quoted": `echo '"\057home"' > .git/objects/info/alternates`,
		"huge":   `head -c 100000 /dev/zero > .git/objects/info/alternates`,
		"a FIFO": `mkfifo .git/objects/info/alternates`,
	} {
		d := newDesk(t)
		r := d.open()
		d.sh(plant)
		if found, err := r.ExternalPaths(t.Context(), d.work); !isCode(err, CodeInvalid) {
			t.Errorf("%s: %q, %v", name, found, err)
		}
	}
}

func TestFiltersAreNotRunAndSaid(t *testing.T) {
	d := newDesk(t)
	d.sh(`echo '* filter=up' > .gitattributes; git config filter.up.clean 'tr a-z A-Z'; git config filter.up.required true
		git add . && git commit -qm filtered; touch -d 2020-01-01 f; echo new >> g`)
	r := d.open()
	s, err := r.Status(t.Context(), ".", "no", 10)
	if err != nil || !slices.Contains(s.Filtered, "g") || !slices.Equal(r.filters, []string{"up"}) {
		t.Errorf("status %+v, %v, filters %q", s, err, r.filters)
	}
}

func TestDiffShowsNamesOfTheWorkspace(t *testing.T) {
	d := newDesk(t)
	d.sh("mkdir sub && echo x > sub/s && git add . && git commit -qm sub && echo y >> sub/s && echo y >> f")
	r, err := d.git().Open(t.Context(), filepath.Join(d.work, "sub"))
	if err != nil {
		t.Fatal(err)
	}
	diff, err := r.Diff(t.Context(), DiffQuery{Path: ".", Strip: "sub/", MaxFiles: 10, MaxBytes: 1 << 16})
	if err != nil || !strings.HasPrefix(diff.Patch, "diff --git a/s b/s\n") || diff.TotalFiles != 1 {
		t.Errorf("stripped: %+v, %v", diff, err)
	}
}

// A diff shows nothing of a file that is withheld: changed, new, deleted, renamed from it or to it.
func TestADiffLeavesOutWhatIsWithheld(t *testing.T) {
	d := newDesk(t)
	d.sh(`mkdir old gone 'sub dir' weird
		for n in .env old/.env gone/.env shown.txt app.txt 'sub dir/.env' 'weird/:(top).env.example'; do { seq 30; echo "NEEDLE in <$n>"; } > "$n"; done
		git add -A; git commit -qm first
		git mv old/.env old/settings.txt; mkdir shown; git mv shown.txt shown/.env; git rm -q gone/.env
		for n in .env app.txt 'sub dir/.env' 'weird/:(top).env.example'; do echo "NEEDLE in <$n>" >> "$n"; done`)
	r := d.open()
	for _, c := range []struct {
		q        DiffQuery
		withheld int
	}{{DiffQuery{}, 2}, {DiffQuery{Staged: true}, 3}, {DiffQuery{Base: "HEAD"}, 5}} {
		c.q.Path, c.q.MaxFiles, c.q.MaxBytes = ".", 100, 1<<20
		c.q.Withhold = func(path string) bool { return filepath.Base(path) == ".env" }
		diff, err := r.Diff(t.Context(), c.q)
		if err != nil || diff.Withheld != c.withheld || strings.Contains(diff.Patch, ".env>") || strings.Contains(diff.Patch, "<shown.txt>") {
			t.Errorf("%+v: %d withheld, want %d, %v\n%s", c.q, diff.Withheld, c.withheld, err, diff.Patch)
		}
		if !c.q.Staged && (!strings.Contains(diff.Patch, "<app.txt>") || !strings.Contains(diff.Patch, ".env.example>")) {
			t.Errorf("%+v misses what may be seen\n%s", c.q, diff.Patch)
		}
	}
}

// FuzzRecords: whatever git answers, and however it is cut, parsing ends, keeps to its bounds and
// does not depend on the cuts.
func FuzzRecords(f *testing.F) {
	f.Add([]byte("# branch.oid (initial)\x00# branch.ab +1 -2\x001 M. N... 1 2 3 a b x\x002 R. N... 1 2 3 a b R100 new\x00old\x00? y\x00"), 3)
	f.Add([]byte("1\t2\tname\x000\t0\t\x00old\x00new\x00-\t-\tbin\x00"), 1)
	f.Add([]byte("2 R. N... 1 2 3 a b R100 new\x00"), 100)
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		size = 1 + max(size, -size)%100
		var whole, parts statusParser
		whole.limit, parts.limit = 2, 2
		a := splitter{emit: whole.record}
		a.write(stream)
		b := splitter{emit: parts.record}
		for chunk := range slices.Chunk(stream, max(size, 1)) {
			b.write(chunk)
		}
		if whole.status.Staged.Total != parts.status.Staged.Total || whole.status.Untracked.Total != parts.status.Untracked.Total {
			t.Errorf("%q: cuts change the answer", stream)
		}
		if len(whole.status.Staged.Entries) > 2 {
			t.Error("more entries than asked for")
		}
		var d Diff
		n := numstat{diff: &d, most: 2}
		c := splitter{emit: n.record}
		c.write(stream)
		if len(d.Files) > 2 || d.Added < 0 || d.Deleted < 0 {
			t.Errorf("%q: %+v", stream, d)
		}
	})
}
