package hostio

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"adze/internal/files/git"
	"adze/internal/files/search"
)

// A real repository: what git says was changed is near, folders are listed, and both as seen from a
// folder of it.
func TestFilesOfARepository(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	top := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = top, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write("sub/kept.go", "a")
	write("sub/inner/changed.go", "a")
	write("other/changed.go", "a")
	run("init", "-q")
	run("add", ".")
	run("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "all")
	write("sub/inner/changed.go", "b")
	write("sub/new.go", "b")
	write("other/changed.go", "b")
	dir := filepath.Join(top, "sub")
	got, err := Files(context.Background(), search.Tree{Root: dir}, nil, func(ctx context.Context) []string {
		return Changed(ctx, git.Git{Env: os.Environ()}, dir)
	})
	if err != nil || !slices.Equal(got.Recent, []string{"inner/changed.go", "new.go"}) {
		t.Errorf("near: %q, %v", got.Recent, err)
	}
	slices.Sort(got.Paths)
	if !slices.Equal(got.Paths, []string{"inner/", "inner/changed.go", "kept.go", "new.go"}) {
		t.Errorf("paths: %q", got.Paths)
	}
	if out := Changed(context.Background(), git.Git{Env: os.Environ()}, t.TempDir()); out != nil {
		t.Errorf("outside of a repository: %q", out)
	}
}

func TestFoldersThatAreWrittenOut(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	work := filepath.Join(home, "work")
	for _, d := range []string{"work", "beside"} {
		if err := os.Mkdir(filepath.Join(home, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, "notes.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	list := FolderIn(work)
	for dir, want := range map[string]string{"~/": home + "/", "../": "../", home + "/": home + "/"} {
		base, names, err := list(context.Background(), dir)
		if err != nil || base != want || !slices.Equal(names, []string{"beside/", "notes.txt", "work/"}) {
			t.Errorf("%s: %s %q %v", dir, base, names, err)
		}
	}
	if _, _, err := list(context.Background(), "~/none/"); err == nil {
		t.Error("a folder that is not there was listed")
	}
}
