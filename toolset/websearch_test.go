package toolset

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/web/websearch"
	"adze/tool"
)

// caseEngine is the search engine of a case: .search holds a result a line, "title | address |
// excerpt", or one line "error: why". A case without that file has none.
func caseEngine(dir string) WebSearch {
	if _, err := os.Stat(filepath.Join(dir, ".search")); err != nil {
		return nil
	}
	return writtenEngine(filepath.Join(dir, ".search"))
}

type writtenEngine string

func (w writtenEngine) Name() string    { return "written" }
func (w writtenEngine) Address() string { return "https://search.example" }

func (w writtenEngine) Search(_ context.Context, query string, limit int) ([]websearch.Result, error) {
	if err := websearch.Check(query); err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(string(w))
	if err != nil {
		return nil, err
	}
	var found []websearch.Result
	for line := range strings.Lines(string(raw)) {
		if why, failed := strings.CutPrefix(strings.TrimSpace(line), "error: "); failed {
			return nil, errors.New(why)
		}
		parts := strings.SplitN(strings.TrimSpace(line), " | ", 3)
		if len(parts) == 3 && len(found) < limit {
			found = append(found, websearch.Result{Title: parts[0], URL: parts[1], Excerpt: parts[2]})
		}
	}
	return found, nil
}

// TestWithoutAnEngineNobodyIsAsked: the tool is shown to no model then, and a call of it needs
// nothing.
func TestWithoutAnEngineNobodyIsAsked(t *testing.T) {
	b := newBench(t, t.TempDir())
	o := b.play(t, "web_search", `{"query":"x"}`)
	if o.needs != "" || o.outcome.Status != tool.Failed || !strings.Contains(o.outcome.Output, "search.engine") {
		t.Errorf("needs %q, %s %q", o.needs, o.outcome.Status, o.outcome.Output)
	}
	for _, name := range b.set.Names() {
		if name == "websearch" {
			t.Error("it is offered")
		}
	}
}
