package toolset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"adze/internal/text"
	"adze/tool"
)

// randomFile is a file in some encoding, with a mark or not, line ends of one kind or mixed, and sometimes broken bytes.
// parts are its decoded pieces; the place to edit is the unique "<<here>>" in the middle.
type randomFile struct {
	format       text.Format
	before, here string
	after        string
	raw          []byte
}

func newRandomFile(rng *rand.Rand) randomFile {
	encodings := []text.Encoding{text.UTF8, text.UTF16LE, text.UTF16BE, text.UTF32LE, text.UTF32BE, text.Latin1, text.Windows1252}
	f := randomFile{format: text.Format{Encoding: encodings[rng.IntN(len(encodings))]}}
	switch f.format.Encoding {
	case text.UTF8:
		f.format.BOM = rng.IntN(2) == 0
	case text.UTF16LE, text.UTF16BE, text.UTF32LE, text.UTF32BE:
		f.format.BOM = true
	}
	f.before, f.after = randomLines(rng, f.format), randomLines(rng, f.format)
	f.here = "<<here>>"
	f.raw = f.encode(f.before + f.here + f.after)
	return f
}

func (f randomFile) encode(s string) []byte {
	body, err := f.format.Encode(s)
	if err != nil {
		panic(err)
	}
	mark := map[text.Encoding]string{
		text.UTF8: "\xEF\xBB\xBF", text.UTF16LE: "\xFF\xFE", text.UTF16BE: "\xFE\xFF", text.UTF32LE: "\xFF\xFE\x00\x00", text.UTF32BE: "\x00\x00\xFE\xFF",
	}[f.format.Encoding]
	if !f.format.BOM {
		mark = ""
	}
	return append([]byte(mark), body...)
}

func randomLines(rng *rand.Rand, f text.Format) string {
	words := []string{"a", "func", " ", "\t", "  ", "<<", "here", "{", "}", "é", "ÿ", "end"}
	switch f.Encoding {
	case text.Latin1:
	case text.Windows1252:
		words = append(words, "€", "“", "™")
	default:
		words = append(words, "€", "日本", "🙂", "\u2028", "…", "\u00a0")
	}
	ends := [][]string{{"\n"}, {"\r\n"}, {"\n", "\r\n", "\r"}, {"\r\n", "\n"}}[rng.IntN(4)]
	var b strings.Builder
	for range rng.IntN(8) {
		for range rng.IntN(6) {
			b.WriteString(words[rng.IntN(len(words))])
		}
		b.WriteString(ends[rng.IntN(len(ends))])
	}
	return b.String()
}

// Whatever the spelling of a file, an edit changes no byte outside its place.
func TestEditsChangeNoByteOutsideTheirPlace(t *testing.T) {
	rounds := 10_000
	if testing.Short() {
		rounds = 500
	}
	d := newDesk(t)
	d.fs.NoSync = true
	rng := rand.New(rand.NewPCG(21, 22))
	for i := range rounds {
		f := newRandomFile(rng)
		if detected := text.Detect(f.raw); detected.Encoding != f.format.Encoding {
			f.format.Encoding = detected.Encoding // without a rare letter one encoding looks like another
		}
		next := []string{"x", "", "two\nlines", "é\n"}[rng.IntN(4)]
		path := fmt.Sprintf("f%d", i%50)
		d.put(path, string(f.raw))
		o := d.callAs(t.Context(), path+fmt.Sprint(i), "edit", args{"path": path, "old_string": f.here, "new_string": next})
		if o.Status != tool.Completed {
			t.Fatalf("%q: %s", f.raw, o.Output)
		}
		head, tail := f.encode(f.before), f.encode(f.after)
		tail = tail[len(f.encode("")):]
		got := []byte(d.content(path))
		if !bytes.HasPrefix(got, head) || !bytes.HasSuffix(got, tail) || len(got) < len(head)+len(tail) {
			t.Fatalf("%+v: %q became %q", f.format, f.raw, got)
		}
		middle := got[len(head) : len(got)-len(tail)]
		if decoded := (text.Format{Encoding: f.format.Encoding}).Decode(middle); text.WithNewlines(decoded, "\n") != next {
			t.Fatalf("%+v: %q stands where %q should", f.format, decoded, next)
		}
	}
}

// A place in the middle of broken UTF-8 can be edited; the stray bytes stay.
func TestEditKeepsStrayBytes(t *testing.T) {
	d := newDesk(t)
	d.put("f", "größe größer\xff\xfe\nhere\n\xc3\x28 größt\n")
	d.want(d.call("edit", args{"path": "f", "old_string": "here", "new_string": "there"}), "")
	if got := d.content("f"); got != "größe größer\xff\xfe\nthere\n\xc3\x28 größt\n" {
		t.Errorf("got %q", got)
	}
}

// largeFile is above the size that is loaded; each line is unique, CRLF in every fourth kind.
func largeFile(t testing.TB, d string, size int, end string) string {
	t.Helper()
	var b bytes.Buffer
	b.Grow(size + 100)
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "line %d of a file that is too large to be loaded%s", i, end)
	}
	path := filepath.Join(d, "large.txt")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLargeFilesAreEditedInPlaceOfLoading(t *testing.T) {
	for name, end := range map[string]string{"lf": "\n", "crlf": "\r\n"} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			path := largeFile(t, d.dir, 9<<20, end)
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			o := d.call("edit", args{"path": "large.txt", "edits": []args{
				{"old_string": "line 100000 of a file", "new_string": "LINE\nTWO"},
				{"old_string": "loaded\nline 7 of", "new_string": "loaded\nline seven of"},
			}})
			d.want(o, "", "lines 7, 100001")
			want := bytes.Replace(whole, []byte("line 100000 of a file"), []byte("LINE"+end+"TWO"), 1)
			want = bytes.Replace(want, []byte("line 7 of"), []byte("line seven of"), 1)
			if got := d.content("large.txt"); got != string(want) {
				t.Errorf("the file is not as wanted (%d bytes, want %d)", len(got), len(want))
			}
			var meta changeMeta
			if err := json.Unmarshal(o.Metadata, &meta); err != nil {
				t.Fatal(err)
			}
			if meta.Added != 3 || meta.Removed != 2 || !strings.Contains(meta.Diff, "@@ -5,7 +5,7 @@") || !strings.Contains(meta.Diff, "@@ -99998,7 +99998,8 @@") {
				t.Errorf("+%d -%d\n%s", meta.Added, meta.Removed, meta.Diff)
			}
		})
	}
}

func TestLargeFilesKeepTheRules(t *testing.T) {
	d := newDesk(t)
	path := largeFile(t, d.dir, 9<<20, "\n")
	d.want(d.call("edit", args{"path": "large.txt", "old_string": "too large", "new_string": "x"}), tool.CodeManyMatches, "lines 1, 2, 3", "more")
	d.want(d.call("edit", args{"path": "large.txt", "old_string": "nowhere in there", "new_string": "x"}), tool.CodeNoMatch)
	d.want(d.call("edit", args{"path": "large.txt", "edits": []args{
		{"old_string": "line 5 of", "new_string": "x"}, {"old_string": "5 of a file", "new_string": "y"},
	}}), tool.CodeManyMatches)
	d.want(d.call("edit", args{"path": "large.txt", "edits": []args{
		{"old_string": "line 12345 of", "new_string": "x"}, {"old_string": "12345 of a file that is too large to be loaded\nline 12346 of", "new_string": "y"},
	}}), tool.CodeInvalidArguments, "overlap")
	d.want(d.call("edit", args{"path": "large.txt", "old_string": "too large", "new_string": "too big", "replace_all": true}), "", "places")
	if got := d.content("large.txt"); strings.Contains(got, "too large") || strings.Count(got, "too big") != strings.Count(got, "\n") {
		t.Error("not every place was replaced")
	}
	d.want(d.call("read", args{"path": "large.txt", "offset": 100000, "limit": 1}), "", "line 99999 of", "continue with offset 100001")
	d.want(d.call("write", args{"path": "large.txt", "content": "small\n"}), "")
	if got := d.content(filepath.Base(path)); got != "small\n" {
		t.Errorf("got %.20q", got)
	}
}

func TestEditOfALargeFileHoldsLittle(t *testing.T) {
	d := newDesk(t)
	largeFile(t, d.dir, 32<<20, "\n")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d.want(d.call("edit", args{"path": "large.txt", "old_string": "line 500000 of", "new_string": "line x of"}), "")
	runtime.ReadMemStats(&after)
	if held := after.TotalAlloc - before.TotalAlloc; held > 4<<20 {
		t.Errorf("an exact edit of 32 MB allocated %d bytes in all", held)
	}
}

// Compare with: sed -i 's/line 900000 of/line x of/' large.txt
func BenchmarkEdit100MB(b *testing.B) {
	d := newDesk(b)
	d.fs.NoSync = os.Getenv("ADZE_NOSYNC") != ""
	largeFile(b, d.dir, 100<<20, "\n")
	old, next := "line 900000 of", "line x of"
	for b.Loop() {
		o := d.bench(b, "edit", args{"path": "large.txt", "old_string": old, "new_string": next})
		if o.Status != tool.Completed {
			b.Fatal(o.Output)
		}
		old, next = next, old
	}
}

// Compare with: sed -n '1000000,1000100p;1000100q' large.txt
func BenchmarkReadLine1000000(b *testing.B) {
	d := newDesk(b)
	largeFile(b, d.dir, 100<<20, "\n")
	for b.Loop() {
		o := d.bench(b, "read", args{"path": "large.txt", "offset": 1_000_000, "limit": 100})
		if o.Status != tool.Completed {
			b.Fatal(o.Output)
		}
	}
}

func BenchmarkEditSmallFile(b *testing.B) {
	d := newDesk(b)
	if err := os.WriteFile(filepath.Join(d.dir, "f.go"), []byte(strings.Repeat("some line of code\n", 300)+"here\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	old, next := "here", "there is"
	for b.Loop() {
		if o := d.bench(b, "edit", args{"path": "f.go", "old_string": old, "new_string": next}); o.Status != tool.Completed {
			b.Fatal(o.Output)
		}
		old, next = next, old
	}
}
