package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recorder is a TB that remembers failures instead of failing.
type recorder struct {
	testing.TB
	failed []string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(f string, args ...any) {
	r.failed = append(r.failed, fmt.Sprintf(f, args...))
}

func writeCase(t *testing.T, text string) *Case {
	t.Helper()
	path := filepath.Join(t.TempDir(), "case.txtar")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return Read(t, path)
}

func TestCasesRunsEveryFileUnderItsName(t *testing.T) {
	var ran []string
	t.Run("cases", func(t *testing.T) {
		Cases(t, "testdata/cases", func(t *testing.T, c *Case) { ran = append(ran, t.Name()) })
	})
	want := []string{
		"TestCasesRunsEveryFileUnderItsName/cases/lays_out_files",
		"TestCasesRunsEveryFileUnderItsName/cases/sub/ends_early",
	}
	if diff := cmp.Diff(want, ran); diff != "" {
		t.Error(diff)
	}
}

func TestCaseShowsItsParts(t *testing.T) {
	c := Read(t, "testdata/cases/lays_out_files.txtar")
	if want := "a case has a sentence that may take two lines"; c.Sentence != want {
		t.Errorf("sentence %q, want %q", c.Sentence, want)
	}
	if want := `{"path": "a.txt"}`; c.Input != want {
		t.Errorf("input %q, want %q", c.Input, want)
	}
	if diff := cmp.Diff([]string{"want.output", "want.files/a.txt"}, c.Sections("want.")); diff != "" {
		t.Error(diff)
	}
	if got, ok := c.Section("want.output"); !ok || got != "read a.txt\n" {
		t.Errorf("want.output %q, %t", got, ok)
	}
	if _, ok := c.Section("want.title"); ok {
		t.Error("a section that is not written down was found")
	}
}

func TestLayoutWritesExactBytes(t *testing.T) {
	dir := t.TempDir()
	Read(t, "testdata/cases/lays_out_files.txtar").Layout(t, dir)
	for name, want := range map[string]string{
		"a.txt":       "one\ntwo\n",
		"sub/dos.txt": "\ufeffone\r\nsay \"two\"\r\nno end",
		"empty.txt":   "",
	} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "want.output")); err == nil {
		t.Error("a want section was laid out as a file")
	}
}

func TestWantComparesOnlyWhatIsThere(t *testing.T) {
	c := Read(t, "testdata/cases/lays_out_files.txtar")
	r := &recorder{TB: t}
	c.Want(r, "want.output", "read a.txt\n")
	c.Want(r, "want.output", "read a.txt") // txtar cannot say that the newline is absent
	c.Want(r, "want.title", "anything")
	if len(r.failed) > 0 {
		t.Errorf("equal values failed: %q", r.failed)
	}
	c.Want(r, "want.output", "read b.txt\n")
	if len(r.failed) != 1 || !strings.Contains(r.failed[0], "want.output differs") || !strings.Contains(r.failed[0], "b.txt") {
		t.Errorf("a different value gave %q", r.failed)
	}
}

func TestAScreenWithoutItsSectionFails(t *testing.T) {
	c := Read(t, "testdata/cases/lays_out_files.txtar")
	r := &recorder{TB: t}
	c.Demand(r, "want.output", "read a.txt\n")
	if len(r.failed) > 0 {
		t.Error(r.failed)
	}
	c.Demand(r, "want.outptu", "read a.txt\n")
	if len(r.failed) != 1 || !strings.Contains(r.failed[0], "want.outptu is missing") {
		t.Errorf("a missing section gave %q", r.failed)
	}
}

func TestASectionThatNothingIsComparedWithIsNamed(t *testing.T) {
	c := writeCase(t, "# s\n-- want.output --\na\n-- want.outptu --\nb\n-- a.txt --\n")
	c.Want(t, "want.output", "a")
	if got := c.idle(); len(got) != 1 || got[0] != "want.outptu" {
		t.Errorf("%q", got)
	}
}

func TestWantSeesTheFirstAndTheLastSection(t *testing.T) {
	c := Read(t, "testdata/cases/sub/ends_early.txtar")
	r := &recorder{TB: t}
	c.Want(r, "want.output", "end")
	if len(r.failed) > 0 {
		t.Error(r.failed)
	}
}

func TestUpdateRewritesOnlyChangedWants(t *testing.T) {
	const before = "#  odd   spacing stays \n{ \"n\":1 }\n--  a.txt --\nkeep\r\n-- want.output --\nold\n\n-- want.title --\nsame\n-- want.meta (quoted) --\nold\\r\n-- z.txt --\nend without newline"
	const after = "#  odd   spacing stays \n{ \"n\":1 }\n--  a.txt --\nkeep\r\n-- want.output --\nnew\nlines\n-- want.title --\nsame\n-- want.meta (quoted) --\nx\\r\\n\ny\n-- z.txt --\nend without newline"
	c := writeCase(t, before)
	c.update = true
	c.Want(t, "want.title", "same")
	c.Want(t, "want.output", "new\nlines")
	c.Want(t, "want.meta", "x\r\ny")
	c.Want(t, "want.absent", "not added")
	got, err := os.ReadFile(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(after, string(got)); diff != "" {
		t.Error(diff)
	}
	Read(t, c.Path).Want(t, "want.meta", "x\r\ny")
}

func TestUpdateFillsAnEmptyLastSection(t *testing.T) {
	c := writeCase(t, "# s\n-- want.output --")
	c.update = true
	c.Want(t, "want.output", "text")
	if got, _ := os.ReadFile(c.Path); string(got) != "# s\n-- want.output --\ntext\n" {
		t.Errorf("%q", got)
	}
}

func TestUpdateRefusesAValueThatWouldBreakTheCase(t *testing.T) {
	const text = "# s\n-- want.output --\nold\n"
	c := writeCase(t, text)
	c.update = true
	r := &recorder{TB: t}
	c.Want(r, "want.output", "-- other --\n")
	if len(r.failed) != 1 || !strings.Contains(r.failed[0], "(quoted)") {
		t.Errorf("failures %q", r.failed)
	}
	if got, _ := os.ReadFile(c.Path); string(got) != text {
		t.Errorf("the file changed to %q", got)
	}
}

func TestParseRefusesBadCases(t *testing.T) {
	for name, text := range map[string]string{
		"no sentence":    "{}\n-- a --\n",
		"empty sentence": "#\n{}\n",
		"twice":          "# s\n-- a --\n-- a (quoted) --\n",
		"nothing":        "",
	} {
		if _, err := parse(name, []byte(text)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func FuzzQuotingRoundTrips(f *testing.F) {
	for _, s := range []string{"", "a", "a\n", "\r\n\x00\\\"", "\\\"\n\n", "\xff\ufeff", "-- a --\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		s := section{quoted: true}
		if got := unquote(encode(s, value)); got != value {
			t.Errorf("%q came back as %q", value, got)
		}
	})
}
