package search

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"adze/internal/testkit/posix"
)

// listing draws a result on one line.
func listing(r ListResult) string {
	var rows []string
	for _, e := range r.Entries {
		row := e.Path
		switch {
		case e.Folder:
			row += "/"
		case e.Link:
			row += "@" + e.Target
		case e.Special:
			row += "|"
		default:
			row += fmt.Sprintf("=%d", e.Size)
		}
		if e.Ignored {
			row += "!"
		}
		rows = append(rows, row)
	}
	return strings.Join(rows, " ")
}

func TestList(t *testing.T) {
	tr := tree(t, map[string]string{
		"b.txt": "123", "a.txt": "", ".env": "1", "src/m.go": "12", "src/in/deep/x": "", "src/out.log": "", "src/tmp/": "", ".git/HEAD": "",
		"build/x.o": "", ".gitignore": "build/\n*.log\ntmp\n", "link": "-> b.txt", "z.log": "1", "dir link": "-> src",
	})
	must(t, posix.Fifo(t, tr.Root+"/pipe"))
	for _, c := range []struct {
		q    ListQuery
		want string
		left string
	}{
		{ListQuery{Depth: 1, Limit: 100}, "build/! src/ .env=1 .gitignore=17 a.txt=0 b.txt=3 dir link@src link@b.txt pipe| z.log=1!", "2 8 0 0 0"},
		{ListQuery{Depth: 1, Limit: 3}, "build/! src/ .env=1", "2 8 0 7 0"},
		{ListQuery{Depth: 1, Limit: 1}, "build/!", "2 8 1 8 0"},
		{ListQuery{Depth: 2, Limit: 100, Ignore: []string{"*.txt", ".*", "pipe", "*link"}}, "build/! src/ src/in/ src/m.go=2 z.log=1!", "3 2 0 0 2"},
		{ListQuery{Depth: 3, Limit: 4, Ignore: []string{"build"}}, "src/ src/in/ src/in/deep/ src/m.go=2", "3 9 0 8 2"},
		{ListQuery{Depth: 3, Limit: 2, Ignore: []string{"src/in"}}, "build/! src/", "2 9 0 9 2"},
	} {
		r, err := tr.List(context.Background(), c.q)
		must(t, err)
		left := fmt.Sprint(r.Folders, r.Files, r.LeftFolders, r.LeftFiles, r.Ignored)
		if listing(r) != c.want || left != c.left {
			t.Errorf("%+v\n got %s (%s)\nwant %s (%s)", c.q, listing(r), left, c.want, c.left)
		}
	}
}

func TestListArguments(t *testing.T) {
	tr := tree(t, map[string]string{"a": ""})
	for want, q := range map[string]ListQuery{
		"limit is 0":   {Depth: 1},
		"depth is 0":   {Limit: 1},
		"depth is 999": {Limit: 1, Depth: 999},
		"valid glob":   {Limit: 1, Depth: 1, Ignore: []string{"{"}},
	} {
		if _, err := tr.List(context.Background(), q); codeOf(err) != "invalid_arguments" || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v gives %v", q, err)
		}
	}
	for root, want := range map[string]string{"/a": "invalid_arguments", "/b": "not_found"} {
		at := tr
		at.Root += root
		if _, err := at.List(context.Background(), ListQuery{Limit: 1, Depth: 1}); codeOf(err) != want {
			t.Errorf("%s gives %v", root, err)
		}
	}
}

func TestListPicksTheFirstOfMany(t *testing.T) {
	files := map[string]string{}
	for i := range 500 {
		files[fmt.Sprintf("%03d", i*7%500)] = ""
	}
	r, err := tree(t, files).List(context.Background(), ListQuery{Depth: 1, Limit: 4})
	must(t, err)
	if got := listing(r); got != "000=0 001=0 002=0 003=0" || r.LeftFiles != 496 {
		t.Errorf("got %s, %d left", got, r.LeftFiles)
	}
}

func TestListReportsUnreadableFolders(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root can read everything")
	}
	tr := tree(t, map[string]string{"in/a": ""})
	must(t, os.Chmod(tr.Root+"/in", 0))
	defer os.Chmod(tr.Root+"/in", 0o755)
	r, err := tr.List(context.Background(), ListQuery{Depth: 2, Limit: 9})
	must(t, err)
	if r.Unreadable.Count != 1 || r.Unreadable.Paths[0] != "in/" {
		t.Errorf("got %+v", r.Unreadable)
	}
}
