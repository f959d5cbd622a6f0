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

	"adze/internal/testkit/effort"
	"adze/internal/text"
	"adze/tool"
)

// randomFile is a file in some encoding, with a mark or not, line ends of one kind or mixed. parts
// are its decoded pieces; between them stand the places to edit, "<<here 0>>" and so on.
type randomFile struct {
	format text.Format
	parts  []string
	raw    []byte
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
	f.parts = []string{randomLines(rng, f.format)}
	whole := f.parts[0]
	for i := range 1 + rng.IntN(6) {
		f.parts = append(f.parts, randomLines(rng, f.format))
		whole += here(i) + f.parts[i+1]
	}
	f.raw = f.encode(whole)
	if detected := text.Detect(f.raw); detected.Encoding != f.format.Encoding {
		f.format.Encoding = detected.Encoding // without a rare letter one encoding looks like another
	}
	return f
}

func here(i int) string { return fmt.Sprintf("<<here %d>>", i) }

// holds checks that got is the file with nexts at its places, in whatever line ends, and that every
// other byte is as it was.
func (f randomFile) holds(t *testing.T, got []byte, nexts []string) {
	t.Helper()
	mark := len(f.encode(""))
	rest := (text.Format{Encoding: f.format.Encoding}).Decode(got[min(mark, len(got)):])
	if !bytes.Equal(f.encode(rest), got) {
		t.Fatalf("%+v: %q became %q, which is not in that encoding", f.format, f.raw, got)
	}
	for i, part := range f.parts {
		found := false
		if rest, found = strings.CutPrefix(rest, part); !found {
			t.Fatalf("%+v: %q became %q: part %d is not as it was", f.format, f.raw, got, i)
		}
		if i == len(nexts) {
			break
		}
		found = false
		for _, end := range []string{"\n", "\r\n", "\r"} {
			if after, is := strings.CutPrefix(rest, text.WithNewlines(nexts[i], end)); is && !found {
				rest, found = after, true
			}
		}
		if !found {
			t.Fatalf("%+v: %q became %q: place %d is not %q", f.format, f.raw, got, i, nexts[i])
		}
	}
	if rest != "" {
		t.Fatalf("%+v: %q became %q: %q is too much", f.format, f.raw, got, rest)
	}
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

// Whatever the spelling of a file, edits change no byte outside their places: 10,000 edits, one to
// six in a call.
func TestEditsChangeNoByteOutsideTheirPlace(t *testing.T) {
	t.Parallel()
	edits, shards := 10_000, 4
	if !effort.Is(effort.Short) {
		edits = 500
	}
	for shard := range shards {
		t.Run(fmt.Sprint(shard), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.fs.NoSync = true
			rng := rand.New(rand.NewPCG(21, uint64(22+shard)))
			for done, round := 0, 0; done < edits/shards; round++ {
				done += d.editRandomFile(t, rng, round)
			}
		})
	}
}

// editRandomFile makes one call and returns how many edits it held.
func (d *desk) editRandomFile(t *testing.T, rng *rand.Rand, round int) int {
	t.Helper()
	f := newRandomFile(rng)
	nexts := make([]string, len(f.parts)-1)
	pairs := make([]args, len(nexts))
	for i := range nexts {
		nexts[i] = []string{"x", "", "two\nlines", "é\nz"}[rng.IntN(4)]
		pairs[i] = args{"old_string": here(i), "new_string": nexts[i]}
	}
	path := fmt.Sprintf("f%d", round%50)
	d.put(path, string(f.raw))
	in := args{"path": path, "edits": pairs}
	if len(pairs) == 1 {
		in = args{"path": path, "old_string": here(0), "new_string": nexts[0]}
	}
	if o := d.callAs(t.Context(), fmt.Sprint("s", round), "edit", in); o.Status != tool.Completed {
		t.Fatalf("%q: %s", f.raw, o.Output)
	}
	f.holds(t, []byte(d.content(path)), nexts)
	return len(pairs)
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
	t.Parallel()
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
	t.Parallel()
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
