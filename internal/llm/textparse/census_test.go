package textparse_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"adze/internal/llm/textparse"
	"adze/session"
	"adze/tool"
)

// set makes real tools of the offered ones, which do nothing.
func set(t *testing.T) *tool.Set {
	t.Helper()
	var registry tool.Registry
	for _, d := range toolKinds() {
		err := registry.Register(tool.Define(d.Name, tool.Config[map[string]json.RawMessage, struct{}]{
			Description: d.Name, Parameters: d.Parameters, Aliases: d.Aliases, Permissions: tool.Requires(tool.Read), Redact: tool.Expose(),
			Needs: func(map[string]json.RawMessage) []tool.Need { return []tool.Need{{Permission: tool.Read}} },
			Run: func(context.Context, tool.Context[struct{}], map[string]json.RawMessage) (tool.Result[struct{}], error) {
				return tool.Result[struct{}]{}, nil
			},
		}))
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := registry.Tools(t.Context(), tool.Init{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCensus counts what becomes of the cases of each family in the whole pipeline: accepted as
// written, repaired in the open, or refused, which leaves them text or makes them invalid. With
// testdata/repair, which package tool counts, these are the project's cases of calls that models
// wrote badly.
func TestCensus(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	tools, total := set(t), map[string]int{}
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		family := map[string]int{}
		for _, f := range archive.Files {
			if strings.HasSuffix(f.Name, ".want") {
				continue
			}
			verdict := fate(t, tools, f)
			family[verdict]++
			total[verdict]++
			for prefix, never := range map[string]string{"accepts": "refused", "refuses": "accepted", "text": "accepted", "cut": "accepted"} {
				if strings.HasPrefix(f.Name, prefix) && verdict == never {
					t.Errorf("%s: %s is %s", filepath.Base(name), f.Name, verdict)
				}
			}
		}
		t.Logf("%-12s accepted %2d, repaired %2d, refused %2d", strings.TrimSuffix(filepath.Base(name), ".txtar"),
			family["accepted"], family["repaired"], family["refused"])
	}
	n := total["accepted"] + total["repaired"] + total["refused"]
	t.Logf("%d cases: accepted %d, repaired %d, refused %d", n, total["accepted"], total["repaired"], total["refused"])
	if n < 200 || total["refused"] < 60 {
		t.Errorf("%d cases are fewer than there were", n)
	}
}

// fate is the worst that happens to a call of a case; no call at all is refused.
func fate(t *testing.T, tools *tool.Set, c txtar.File) string {
	t.Helper()
	done := session.Done{Stop: session.StopEnd}
	if strings.HasPrefix(c.Name, "cut") {
		done.Stop = session.StopLength
	}
	var calls []tool.RawCall
	n := 0
	mint := func() string { n++; return strings.Repeat("c", n) }
	text := strings.TrimSuffix(string(c.Data), "\n")
	for c := range textparse.Recover(stream(done, text), session.Request{Tools: toolKinds()}, mint) {
		if c, ok := c.(session.Call); ok {
			calls = append(calls, c.RawCall)
		}
	}
	verdict := "refused"
	for i, h := range (&tool.Runner{}).Hydrate(t.Context(), tools, calls) {
		switch {
		case !h.OK:
			return "refused"
		case h.Provenance.Origin != tool.FromText:
			t.Errorf("%s: the origin is %q", c.Name, h.Provenance.Origin)
		case h.Provenance.Repair != nil:
			verdict = "repaired"
		case i == 0:
			verdict = "accepted"
		}
	}
	return verdict
}
