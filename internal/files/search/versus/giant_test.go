package versus

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/internal/files/search/match"
	"adze/internal/testkit/effort"
)

// giantAsks are of each kind that is looked for in its own way.
func giantAsks() []ask {
	return []ask{
		{pattern: "needle"}, {pattern: "qqxqqx"}, {pattern: "NEEDLE", flags: "i"}, {pattern: "größe", flags: "i"}, {pattern: "needle|thread"}, {pattern: "^one"},
		{pattern: "end$"}, {pattern: "^one.*end$"}, {pattern: "^end"}, {pattern: `\w{20,}`}, {pattern: `[a-z]+_\d`}, {pattern: `\bneedle\b`},
		{pattern: "needle", flags: "w"}, {pattern: `[^\x00-\x7f]!`}, {pattern: "."}, {pattern: "^$"}, {pattern: "(again)", flags: "F"}, {pattern: "needle.*end"},
		{pattern: "needle", flags: "U"}, {pattern: "end$", flags: "U"}, {pattern: "needle", flags: "l"}, {pattern: "^[^#]*$"},
	}
}

// TestGiantLinesEqualThoseOfRipgrep compares which lines match where some are longer than any
// buffer: 5 MB, or, when long, 1 GB each.
func TestGiantLinesEqualThoseOfRipgrep(t *testing.T) {
	size := effort.Rounds(match.MaxLine+1<<20, match.MaxLine+1<<20, 1<<30)
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	long := func(end string) []byte {
		words := []byte("one line of words, (again) und Größe 123 ")
		return append(bytes.Repeat(words, size/len(words)), end...)
	}
	must(t, os.WriteFile(root+"/alone", long("needle_1 end"), 0o644))
	among := slices.Concat([]byte("first\nneedle\n\n"), long("# end\r\n"), []byte("between\n"), long("a needle the end\n"), []byte("one end\nneedle"))
	must(t, os.WriteFile(root+"/among", among, 0o644))
	b := newBoth(t, root)
	for _, a := range giantAsks() {
		theirs, ours := b.numbers(a), slices.Sorted(maps.Keys(b.ours(a)))
		if !slices.Equal(theirs, ours) {
			t.Errorf("%v: rg has %q, adze %q", a, theirs, ours)
		}
	}
}

// numbers is which lines ripgrep finds, without what stands in them.
func (b both) numbers(a ask) []string {
	b.t.Helper()
	args := append([]string{"-a", "-n", "--no-heading", "--with-filename", "--null", "--max-columns=4"}, a.args()...)
	if !strings.Contains(a.flags, "U") {
		args = append(args, "--crlf")
	}
	answer := map[string]bool{}
	out := b.run(append(args, "./")...)
	for len(out) > 0 {
		name, rest, _ := bytes.Cut(out, []byte{0})
		path := strings.TrimPrefix(string(name), "./")
		if strings.Contains(a.flags, "l") {
			answer[path], out = true, rest
			continue
		}
		var line []byte
		line, out, _ = bytes.Cut(rest, []byte{'\n'})
		number, _, _ := bytes.Cut(line, []byte{':'})
		answer[path+"\x00"+string(number)] = true
	}
	return slices.Sorted(maps.Keys(answer))
}
