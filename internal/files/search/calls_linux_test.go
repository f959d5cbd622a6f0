package search

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// callsOf names the variable that makes TestCallsOfASearch the program that is traced: what it
// does, and the tree.
const callsOf = "ADZE_SEARCH_CALLS"

// A search makes three calls for a file and three for a folder, a list by age one for a file. What
// is counted is the difference between a tree and one with twenty folders of ten files more. The
// kernel may refuse a call that must not wait at any time, which is made again then: one try of
// some has to be without.
func TestCallsOfASearch(t *testing.T) {
	if what, root, ok := strings.Cut(os.Getenv(callsOf), " "); ok {
		searchOnce(t, what, Tree{Root: root})
		return
	}
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	small, large := map[string]string{}, map[string]string{}
	for i := range 210 {
		name := fmt.Sprintf("pkg%d/file%d.go", i/10, i)
		if large[name] = "package a\n"; i < 10 {
			small[name] = large[name]
		}
	}
	a, b := tree(t, small), tree(t, large)
	needExt4(t, b.Root)
	for what, want := range map[string]map[string]int{
		"grep": {"openat2": 220, "preadv2": 200, "close": 220, "getdents64": 20},
		"glob": {"openat2": 20, "newfstatat": 200, "close": 20, "getdents64": 20},
	} {
		var got map[string]int
		for range 5 {
			got = traced(t, what, b.Root)
			for kind, n := range traced(t, what, a.Root) {
				if got[kind] -= n; got[kind] == 0 {
					delete(got, kind)
				}
			}
			if maps.Equal(got, want) {
				break
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s makes more calls for 20 folders of 10 files: %v, want %v", what, got, want)
		}
	}
}

func searchOnce(t *testing.T, what string, tr Tree) {
	t.Helper()
	var err error
	if what == "grep" {
		_, err = tr.Grep(context.Background(), GrepQuery{Query: query("nowhere"), Limit: 1})
	} else {
		_, err = tr.Glob(context.Background(), GlobQuery{Pattern: "**", Limit: 1})
	}
	must(t, err)
}

// needExt4 skips where it is not known which calls the file system saves.
func needExt4(t *testing.T, path string) {
	t.Helper()
	var st unix.Statfs_t
	must(t, unix.Statfs(path, &st))
	if int64(st.Type) != unix.EXT4_SUPER_MAGIC {
		t.Skip("the folder for temporary files is not on ext4")
	}
}

// traced counts by kind the calls about files that a program makes which searches a tree.
func traced(t *testing.T, what, root string) map[string]int {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	cmd := exec.Command("strace", "-f", "-qq", "-e", "trace=%file,%desc", "-o", log, os.Args[0], "-test.run=^TestCallsOfASearch$")
	cmd.Env = append(os.Environ(), callsOf+"="+what+" "+root)
	if out, err := cmd.CombinedOutput(); err != nil && strings.Contains(string(out), "ptrace") {
		t.Skipf("strace may not trace here: %s", out)
	} else if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(log)
	must(t, err)
	all := map[string]int{}
	for _, call := range regexp.MustCompile(`(?m)^\d+ +(open\w*|close|p?read\w*|\w*stat\w*|getdents64|lseek|fcntl|epoll_ctl)\(`).FindAllStringSubmatch(string(text), -1) {
		all[call[1]]++
	}
	return all
}

// A file is read as a whole also where only its beginning, its end or nothing of it is in memory.
func TestFilesAreReadAsAWholeWhatIsInMemory(t *testing.T) {
	page := os.Getpagesize()
	var sizes []int
	for _, near := range []int{1, page, 2 * page, 16 * page, 17 * page, 40 * page} {
		sizes = append(sizes, near-1, near, near+1)
	}
	texts := map[string]string{}
	for _, size := range sizes {
		texts[fmt.Sprint(size)] = strings.Repeat("0123456789abcde\n", size/16+1)[:size]
	}
	tr := tree(t, texts)
	at, err := tr.openRoot()
	must(t, err)
	defer at.close()
	for name, want := range texts {
		for _, gone := range [][2]int{{0, 0}, {0, 1 << 40}, {page, 1 << 40}, {0, page}, {2 * page, page}} {
			forgotten(t, tr.Root+"/"+name, gone[0], gone[1])
			var h handle
			must(t, at.openFile(name, &h))
			var text []byte
			buffer := make([]byte, 16*page)
			for err = nil; err == nil; {
				var n int
				n, err = h.Read(buffer)
				text = append(text, buffer[:n]...)
			}
			if must(t, h.Close()); string(text) != want {
				t.Errorf("without %d bytes from %d on in memory, %s bytes give %d, %v", gone[1], gone[0], name, len(text), err)
			}
		}
	}
}

// forgotten makes the system forget what it has in memory of a part of a file.
func forgotten(t *testing.T, path string, from, size int) {
	t.Helper()
	if size == 0 {
		return
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	must(t, f.Sync())
	must(t, unix.Fadvise(int(f.Fd()), int64(from), int64(size), unix.FADV_DONTNEED))
	must(t, f.Close())
}

// A folder of more entries than one read of it takes is listed as a whole, each entry once.
func TestLongFoldersAreListedAsAWhole(t *testing.T) {
	files := map[string]string{}
	for i := range 3000 {
		files[fmt.Sprintf("long name of a file, number %d", i)] = ""
	}
	tr := tree(t, files)
	if got := found(t, tr, "**"); len(got) != len(files) {
		t.Errorf("%d of %d files are listed", len(got), len(files))
	}
}
