package tool_test

import (
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"adze/internal/testkit/golden"
	"adze/tool"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// awkward is content that must come through any repair as it is.
func awkward() []string {
	return []string{"", "a.go", "it's", `say "hi"`, "```json\n{}\n```", "// no comment", "/* none */", "# none", `C:\dir\n`, "None", "True",
		"null", "007", "1e9", "a, b: {c} [d],", "“smart”", "‘single’", "tab\tbreak\nreturn\r", "\u0000\u001b[31m", "é😀", "{", "[1, 2,]x", `\u0041`, `\'`, "<b>&amp;</b>"}
}

// randomEdit makes the arguments of the corpus tool edit.
func randomEdit(r *rand.Rand) map[string]any {
	some := func() string { return awkward()[r.IntN(len(awkward()))] + awkward()[r.IntN(len(awkward()))] }
	args := map[string]any{"path": some()}
	if r.IntN(2) == 0 {
		args["old_string"], args["new_string"] = some(), some()
	}
	if r.IntN(2) == 0 {
		args["replace_all"] = r.IntN(2) == 0
	}
	var edits []any
	for range r.IntN(3) {
		edits = append(edits, map[string]any{"old_string": some(), "new_string": some()})
	}
	if edits != nil {
		args["edits"] = edits
	}
	return args
}

// TestValidArgumentsAreNeverAltered: content that looks like a slip is content.
func TestValidArgumentsAreNeverAltered(t *testing.T) {
	set, r := corpusSet(t), rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		raw, err := json.MarshalIndent(randomEdit(r), "", strings.Repeat(" ", r.IntN(3)))
		if err != nil {
			t.Fatal(err)
		}
		h := hydrateNamed(t, set, "edit", string(raw))
		if !h.OK || mended(h) != nil || string(h.Provenance.Validated) != string(raw) {
			t.Fatalf("%s: %v, %+v", raw, h.Errors, h.Provenance.Repair)
		}
	}
}

// TestRepairKeepsEveryCharacter writes arguments in the ways of models and wants back what they
// hold.
func TestRepairKeepsEveryCharacter(t *testing.T) {
	set, r := corpusSet(t), rand.New(rand.NewPCG(3, 4))
	repaired := 0
	for range 3000 {
		want := randomEdit(r)
		w := sloppy{Rand: r}
		w.value(want)
		h := hydrateNamed(t, set, "edit", w.String())
		if !h.OK {
			t.Fatalf("%s\nwas refused: %v", w.String(), h.Errors)
		}
		if diff := cmp.Diff(any(want), decoded(t, string(h.Provenance.Validated))); diff != "" {
			t.Fatalf("%s\nchanged its content (-want +got):\n%s", w.String(), diff)
		}
		if mended(h) != nil {
			repaired++
		}
	}
	if repaired < 2000 {
		t.Errorf("only %d of 3000 needed a repair", repaired)
	}
}

// sloppy writes values as models do: never ambiguous, seldom JSON.
type sloppy struct {
	*rand.Rand
	strings.Builder
}

func (w *sloppy) chance() bool { return w.IntN(4) == 0 }

func (w *sloppy) space() {
	if w.chance() {
		w.WriteString([]string{" ", "\n", "/* a \"note\" */", "// one, [\n", "# two: {\n"}[w.IntN(5)])
	}
}

func (w *sloppy) value(v any) {
	w.space()
	switch v := v.(type) {
	case string:
		w.text(v)
	case bool:
		w.WriteString(map[bool][]string{true: {"true", "True", `"true"`}, false: {"false", "False", "'False'"}}[v][w.IntN(3)])
	case []any:
		w.list("[]", len(v), func(i int) { w.value(v[i]) })
	case map[string]any:
		names := slices.Sorted(func(yield func(string) bool) {
			for name := range v {
				if !yield(name) {
					return
				}
			}
		})
		w.list("{}", len(names), func(i int) {
			w.name(names[i])
			w.WriteString(":")
			w.value(v[names[i]])
		})
	}
	w.space()
}

func (w *sloppy) list(brackets string, n int, item func(int)) {
	w.WriteByte(brackets[0])
	for i := range n {
		item(i)
		if i < n-1 || w.chance() {
			w.WriteString(",")
			w.space()
		}
	}
	w.WriteByte(brackets[1])
}

func (w *sloppy) name(name string) {
	if w.chance() {
		name = strings.ReplaceAll(name, "_", []string{"-", "", "_"}[w.IntN(3)])
	}
	if w.chance() {
		w.WriteString(name) // bare
		return
	}
	w.text(name)
}

// text writes a string within quotes that do not occur in it, and escapes by JSON.
func (w *sloppy) text(s string) {
	raw, _ := json.Marshal(s)
	inner := string(raw[1 : len(raw)-1])
	switch {
	case w.chance() && !strings.Contains(s, "/"):
		w.WriteString("'" + strings.NewReplacer(`'`, `\'`, `\"`, `"`).Replace(strings.ReplaceAll(inner, `\\`, `\u005c`)) + "'")
	case w.chance() && !strings.ContainsAny(s, "“”"):
		w.WriteString("“" + inner + "”")
	case w.chance() && !strings.Contains(s, `\`):
		w.WriteString(`"` + strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r").Replace(inner) + `"`)
	default:
		w.WriteString(`"` + inner + `"`)
	}
}

// TestNoPrefixOfACallRuns: whatever a stream lost at its end, nothing is made up for it.
func TestNoPrefixOfACallRuns(t *testing.T) {
	set, r := corpusSet(t), rand.New(rand.NewPCG(5, 6))
	for range 150 {
		raw, err := json.Marshal(randomEdit(r))
		if err != nil {
			t.Fatal(err)
		}
		for end := 1; end < len(raw); end++ {
			if h := hydrateNamed(t, set, "edit", string(raw[:end])); h.OK {
				t.Fatalf("%s\nruns as %s, cut from\n%s", raw[:end], h.Provenance.Validated, raw)
			}
		}
	}
}

// judging counts how often arguments are judged.
type judging struct {
	tool.JSONSchema
	times *atomic.Int32
}

func (j judging) Compile(schema json.RawMessage) (tool.Check, error) {
	check, err := j.JSONSchema.Compile(schema)
	return func(v any) []tool.Fault {
		j.times.Add(1)
		return check(v)
	}, err
}

// FuzzRepair: whatever is written, a repair does not panic, is judged once, is final, and holds no
// text that was not written.
func FuzzRepair(f *testing.F) {
	paths, err := filepath.Glob(filepath.Join("..", "testdata", "repair", "*.txtar"))
	if err != nil || len(paths) == 0 {
		f.Fatal("no corpus", err)
	}
	set, times := judgedSet(f)
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		c := golden.Read(f, path)
		for i, file := range archive.Files {
			if text, ok := c.Section(strings.TrimSuffix(file.Name, " (quoted)")); ok && !strings.HasPrefix(file.Name, "want.") {
				f.Add(strings.TrimSuffix(text, "\n"), byte(i))
			}
		}
	}
	f.Fuzz(func(t *testing.T, arguments string, which byte) {
		names := set.Names()
		name := names[int(which)%len(names)]
		times.Store(0)
		h := hydrateNamed(t, set, name, arguments)
		if n := times.Load(); n > 2 {
			t.Fatalf("judged %d times", n)
		}
		provenanceHolds(t, name, h)
		for _, fault := range h.Errors {
			if fault.Code == tool.CodePanic {
				t.Fatalf("%+v", fault)
			}
		}
		if !h.OK || mended(h) == nil {
			return
		}
		after := string(h.Provenance.Validated)
		if again := hydrateNamed(t, set, name, after); !again.OK || mended(again) != nil {
			t.Fatalf("%q became %s, which is not final: %v", arguments, after, again.Errors)
		}
		written(t, readings(arguments), decoded(t, after))
	})
}

func judgedSet(t testing.TB) (*tool.Set, *atomic.Int32) {
	t.Helper()
	times := new(atomic.Int32)
	r := corpusRegistry(t)
	r.Validator = judging{times: times}
	set, err := r.Tools(t.Context(), tool.Init{})
	if err != nil {
		t.Fatal(err)
	}
	return set, times
}

// readings are a text and what it says when its escapes are resolved, as often as models encode.
func readings(text string) []string {
	out := []string{text}
	for range 6 {
		text = resolved(text)
		out = append(out, text)
	}
	return out
}

// resolved resolves each escape of JSON where it stands. It is written apart from the repairer's
// own.
func resolved(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		if text[0] != '\\' || len(text) == 1 {
			b.WriteByte(text[0])
			text = text[1:]
			continue
		}
		n := 2
		if text[1] == 'u' {
			n = min(6, len(text))
			if n == 6 && len(text) >= 12 && strings.HasPrefix(strings.ToLower(text), `\ud`) && text[6:8] == `\u` {
				n = 12
			}
		}
		var s string
		if json.Unmarshal([]byte(`"`+text[:n]+`"`), &s) != nil {
			s = strings.TrimPrefix(text[:n], `\`)
		}
		b.WriteString(s)
		text = text[n:]
	}
	return b.String()
}

// written checks that each string of a value stands in one of the texts.
func written(t *testing.T, texts []string, value any) {
	t.Helper()
	switch v := value.(type) {
	case string:
		if !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, v) }) {
			t.Fatalf("nobody wrote %q in %q", v, texts[0])
		}
	case []any:
		for _, item := range v {
			written(t, texts, item)
		}
	case map[string]any:
		for _, item := range v {
			written(t, texts, item)
		}
	case float64, bool, nil:
	default:
		t.Fatalf("a value of type %T", v)
	}
}

// mended is what was done to the arguments, whether they were wrong or only in other words.
func mended(h tool.Hydration) *tool.Repair {
	if h.Provenance.Dialect != nil {
		return h.Provenance.Dialect
	}
	return h.Provenance.Repair
}
