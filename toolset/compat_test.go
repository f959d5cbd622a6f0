package toolset

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/internal/testkit/golden"
	"adze/tool"
)

// TestDialects reads testdata/dialect: one file for each assistant, with every shape of argument
// that its public schemas document for tools like these. A case is a section named tool/what it
// shows; its want is the tool and the arguments that run, or the sentence that tells the model what
// to do instead.
func TestDialects(t *testing.T) {
	b := newDeskOfAll(t)
	total := 0
	golden.Cases(t, filepath.Join("..", "testdata", "dialect"), func(t *testing.T, c *golden.Case) {
		for _, name := range c.Sections("") {
			if strings.HasPrefix(name, "want.") {
				continue
			}
			total++
			arguments, _ := c.Section(name)
			id, _, _ := strings.Cut(name, "/")
			h := b.hydrate(t, id, strings.TrimSuffix(arguments, "\n"))
			c.Want(t, "want."+name, b.understanding(t, h))
			if p := h.Provenance; h.OK && (p.Repair != nil || (p.Origin == tool.Alias) != (p.Dialect != nil || p.Alias != "")) {
				t.Errorf("%s: origin %s, repair %+v, dialect %+v", name, p.Origin, p.Repair, p.Dialect)
			}
			if h.OK {
				again := b.hydrate(t, h.Tool, string(h.Provenance.Validated))
				if p := again.Provenance; !again.OK || p.Dialect != nil || string(p.Validated) != string(h.Provenance.Validated) {
					t.Errorf("%s: what was understood is not final: %+v", name, again.Errors)
				}
			}
		}
	})
	if total < 190 {
		t.Errorf("only %d shapes are tried", total)
	}
}

// understanding is a hydration in the words of the cases.
func (b *bench) understanding(t *testing.T, h tool.Hydration) string {
	t.Helper()
	if !h.OK {
		o := b.runner.Exec(t.Context(), h)
		why, _, _ := strings.Cut(o.Output, " Call it again ")
		return "refused: " + why + "\n"
	}
	out := h.Tool + " " + string(h.Provenance.Validated) + "\n"
	if d := h.Provenance.Dialect; d != nil && len(d.Dropped) > 0 {
		out += "dropped " + strings.Join(d.Dropped, " ") + "\n"
	}
	return out
}

// Arguments that fit are never read in another way, whatever Compat knows of their names.
func TestOtherWordsLeaveWhatFitsAlone(t *testing.T) {
	b := newDeskOfAll(t)
	for name, arguments := range map[string]string{
		"read":      `{"offset":0,"path":"paths"}`,
		"write":     `{"content":"line_count","path":"command"}`,
		"edit":      `{"edits":[{"new_string":"b","old_string":"a","replace_all":true}],"path":"a"}`,
		"grep":      `{"include":"*.go,*.md","limit":0,"mode":"files","pattern":"files_with_matches"}`,
		"list":      `{"depth":3,"ignore":"a,b"}`,
		"bash":      `{"command":"[\"ls\"]","timeout":600}`,
		"todowrite": `{"todos":[{"content":"[x] done","status":"pending"}]}`,
		"webfetch":  `{"timeout":120,"url":"https://a.example"}`,
	} {
		h := b.hydrate(t, name, arguments)
		if !h.OK || h.Provenance.Origin != tool.Native || h.Provenance.Dialect != nil || string(h.Provenance.Validated) != arguments {
			t.Errorf("%s %s: %v, became %s", name, arguments, h.Errors, h.Provenance.Validated)
		}
	}
}

// FuzzDialects: whatever is written, no tool gets a text or a number that was not written, except
// one that a switch, a range or a time is read as.
func FuzzDialects(f *testing.F) {
	b := newDeskOfAll(f)
	names := b.set.Names()
	paths, err := filepath.Glob(filepath.Join("..", "testdata", "dialect", "*.txtar"))
	if err != nil || len(paths) == 0 {
		f.Fatal("no cases", err)
	}
	for _, path := range paths {
		c := golden.Read(f, path)
		for _, name := range c.Sections("") {
			id, _, _ := strings.Cut(name, "/")
			if at := slices.Index(names, id); at >= 0 {
				text, _ := c.Section(name)
				f.Add(text, uint8(at))
			}
		}
	}
	f.Fuzz(func(t *testing.T, arguments string, which uint8) {
		h := b.runner.Hydrate(t.Context(), b.set, []tool.RawCall{{ID: "c", Name: names[int(which)%len(names)], Arguments: arguments}})[0]
		for _, fault := range h.Errors {
			if fault.Code == tool.CodePanic {
				t.Fatalf("%+v", fault)
			}
		}
		if !h.OK || h.Provenance.Dialect == nil {
			return
		}
		var value any
		if err := json.Unmarshal(h.Provenance.Validated, &value); err != nil {
			t.Fatal(err)
		}
		plain := strings.NewReplacer(`\`, "", `"`, "", "'", "", " ", "", "\n", "", "\t", "").Replace
		eachText(value, func(text string) {
			short := plain(strings.ToValidUTF8(text, ""))
			var before any
			_ = json.Unmarshal([]byte(arguments), &before)
			var all strings.Builder
			eachText(before, func(s string) { all.WriteString(plain(s)) })
			given := []string{"files", "content", "count", "pending", "in_progress", "completed", "cancelled", "raw", "text", "markdown",
				"general", "explore", "high", "medium", "low"}
			for part := range strings.SplitSeq(short, ",") {
				if !slices.Contains(given, part) && !strings.Contains(all.String(), part) {
					t.Fatalf("%s became %s: %q was not written", arguments, h.Provenance.Validated, part)
				}
			}
		})
	})
}

func eachText(v any, yield func(string)) {
	switch v := v.(type) {
	case string:
		yield(v)
	case []any:
		for _, item := range v {
			eachText(item, yield)
		}
	case map[string]any:
		for _, item := range v {
			eachText(item, yield)
		}
	}
}
