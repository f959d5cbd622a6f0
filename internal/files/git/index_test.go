package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestAnIndexIsReadAsGitReadsIt compares with git ls-files, for each version and extension.
func TestAnIndexIsReadAsGitReadsIt(t *testing.T) {
	for name, script := range map[string]string{
		"version 2":   "",
		"version 3":   "echo later > later; git add -N later; git update-index --skip-worktree g",
		"version 4":   "mkdir -p deep/er; for i in $(seq 30); do echo $i > deep/er/file$i; echo $i > deep/f$i; done; git add .; git update-index --index-version 4",
		"a conflict":  "git checkout -qb side HEAD~1; echo side > f; git commit -qam side; git merge -q main || true",
		"resolved":    "git checkout -qb side HEAD~1; echo side > f; git commit -qam side; git merge -q main || true; echo both > f; git add f",
		"a submodule": "git init -q sub; git -C sub commit -q --allow-empty -m s; git add sub 2>/dev/null",
		"split":       "git update-index --split-index; echo more > more; git add more",
		"sha256":      "rm -rf .git; git init -q --object-format=sha256; git add f g; git commit -qm one",
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.sh(script)
			index := filepath.Join(d.work, ".git", "index")
			b, err := os.ReadFile(index)
			if err != nil {
				t.Fatal(err)
			}
			sha256 := name == "sha256"
			x, err := ParseIndex(b, sha256)
			if err != nil {
				t.Fatal(err)
			}
			if x.Shared != "" {
				base, err := os.ReadFile(filepath.Join(d.work, ".git", "sharedindex."+x.Shared))
				if err != nil {
					t.Fatal(err)
				}
				y, err := ParseIndex(base, sha256)
				if err != nil {
					t.Fatal(err)
				}
				x.Objects = append(x.Objects, y.Objects...)
			} else if name == "split" {
				t.Error("the index is not split")
			}
			out, err := d.try("git ls-files --stage")
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(out)) {
				f := strings.Fields(line)
				if has := slices.Contains(x.Objects, f[1]); has == (f[0] == "160000") {
					t.Errorf("%s: it is %v that it is needed", strings.TrimSpace(line), has)
				}
			}
			if tree, err := d.try("git write-tree"); err == nil && name == "version 2" && !slices.Contains(x.Objects, strings.TrimSpace(string(tree))) {
				t.Errorf("the tree that it remembers is not among %q", x.Objects)
			}
			d.sh("touch -d '2001-01-01' f; git status -s --ignore-submodules=all")
			after, err := os.ReadFile(index)
			if err != nil || !SameIndex(b, after) && name != "split" { // which notes what was refreshed in a part of its own
				t.Errorf("refreshed, it counts as another index: %v", err)
			}
			d.sh("git update-index --add --chmod=+x g")
			after, _ = os.ReadFile(index)
			if SameIndex(b, after) {
				t.Error("an index with another mode counts as the same")
			}
			for cut := range b {
				_, _ = ParseIndex(b[:cut], sha256) // it must not panic
			}
		})
	}
}

func TestMissingObjectsAreFound(t *testing.T) {
	d := newDesk(t)
	d.sh("git rev-parse HEAD HEAD^{tree} > ids; git commit -q --amend -m other; git reflog expire --expire=now --all; git gc -q --prune=now; git rev-parse HEAD >> ids")
	b, err := os.ReadFile(filepath.Join(d.work, "ids"))
	if err != nil {
		t.Fatal(err)
	}
	ids := strings.Fields(string(b))
	o := Objects{Dir: filepath.Join(d.work, ".git", "objects")}
	lacks, err := d.git().MissingObjects(t.Context(), o, ids)
	if err != nil || !lacks[ids[0]] || lacks[ids[1]] || lacks[ids[2]] {
		t.Errorf("missing %v, %v", lacks, err)
	}
	if err := d.git().Complete(t.Context(), o, ids[2:], nil); err != nil {
		t.Errorf("what is there: %v", err)
	}
	if err := d.git().Complete(t.Context(), o, ids[:1], ids[2:]); err == nil {
		t.Error("what is gone is taken for complete")
	}
}
