package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAnIndexWithOtherTimesIsTheSame refreshes and changes an index of each version.
func TestAnIndexWithOtherTimesIsTheSame(t *testing.T) {
	for name, script := range map[string]string{
		"version 2":   "",
		"version 3":   "echo later > later; git add -N later; git update-index --skip-worktree g",
		"version 4":   "mkdir -p deep/er; for i in $(seq 30); do echo $i > deep/er/file$i; echo $i > deep/f$i; done; git add .; git update-index --index-version 4",
		"a conflict":  "git checkout -qb side HEAD~1; echo side > f; git commit -qam side; git merge -q main || true",
		"a submodule": "git init -q sub; git -C sub commit -q --allow-empty -m s; git add sub 2>/dev/null",
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
			d.sh("touch -d '2001-01-01' f; git status -s --ignore-submodules=all")
			after, err := os.ReadFile(index)
			if err != nil || !d.git().SameIndex(t.Context(), b, after) {
				t.Errorf("refreshed, it counts as another index: %v", err)
			}
			d.sh("git update-index --add --chmod=+x g")
			after, _ = os.ReadFile(index)
			if d.git().SameIndex(t.Context(), b, after) {
				t.Error("an index with another mode counts as the same")
			}
			o := Objects{Dir: filepath.Join(d.work, ".git", "objects"), SHA256: name == "sha256"}
			if err := d.git().Complete(t.Context(), o, [][]byte{b}, nil, nil); err != nil {
				t.Errorf("all of it is there: %v", err)
			}
			d.sh("echo only staged > f; git add f")
			after, _ = os.ReadFile(index)
			d.sh("git reset -q; git gc -q --prune=now")
			if err := d.git().Complete(t.Context(), o, [][]byte{b, after}, nil, nil); err == nil {
				t.Error("nothing is missed of an index whose content is gone")
			}
		})
	}
}

func TestASparseIndexDiffersByItsFolders(t *testing.T) {
	d := newDesk(t)
	d.sh("mkdir -p x z; echo 1 > x/f; echo 1 > z/f; git add .; git commit -qm one; echo 2 > x/f; git commit -qam two; git sparse-checkout set --cone --sparse-index z; git checkout -q HEAD~1")
	index := filepath.Join(d.work, ".git", "index")
	before, _ := os.ReadFile(index)
	d.sh("git checkout -q -")
	after, err := os.ReadFile(index)
	if err != nil || !strings.Contains(string(after), "sdir") {
		t.Skip("this git keeps no folders in its index")
	}
	if d.git().SameIndex(t.Context(), before, after) {
		t.Error("an index with another folder counts as the same")
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
	if err := d.git().Complete(t.Context(), o, nil, ids[2:], nil); err != nil {
		t.Errorf("what is there: %v", err)
	}
	if err := d.git().Complete(t.Context(), o, nil, ids[:1], ids[2:]); err == nil {
		t.Error("what is gone is taken for complete")
	}
}
