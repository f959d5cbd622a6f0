package toolset

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"adze/tool"
	"adze/tool/rank"
)

// caseFinder finds among three tools; the first is in the list of requests already.
type caseFinder struct{}

func (caseFinder) Find(ctx context.Context, query string, limit int) Finding {
	defs := []tool.Definition{
		{Name: "read", Description: "Read a text file."},
		{Name: "send_mail", Description: "Send a mail.\nWith attachments."},
		{Name: "search_mail", Description: "Search the mailbox."},
	}
	out := Finding{Searched: len(defs)}
	for _, r := range rank.Tools(query, defs, rank.Options{MaxCandidates: limit, AllowUnsafe: true}) {
		out.Tools = append(out.Tools, ToolMatch{r.Definition.Name, r.Definition.Description, r.Definition.Name == "read"})
	}
	return out
}

func TestWithoutAFinderThereIsNothingToSearch(t *testing.T) {
	_, err := searchTools(t.Context(), nil, "mail")
	if err == nil || err.Error() != "there are no other tools; work with those in your list" {
		t.Errorf("err = %v", err)
	}
}

func TestASearchThatWasAbortedFindsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := searchTools(ctx, caseFinder{}, "mail"); err == nil || len(r.Metadata.Found) != 0 {
		t.Errorf("found %v, err = %v", r.Metadata.Found, err)
	}
}

func TestFoundByReadsOnlyWhatToolSearchFound(t *testing.T) {
	meta := json.RawMessage(`{"query":"x","found":["a","b"],"of":9}`)
	for _, c := range []struct {
		o    tool.Outcome
		want []string
	}{
		{tool.Outcome{Tool: "tool_search", Status: tool.Completed, Metadata: meta}, []string{"a", "b"}},
		{tool.Outcome{Tool: "tool_search", Status: tool.Failed, Metadata: meta}, nil},
		{tool.Outcome{Tool: "bash", Status: tool.Completed, Metadata: meta}, nil},
		{tool.Outcome{Tool: "tool_search", Status: tool.Completed, Metadata: json.RawMessage(`{`)}, nil},
	} {
		if got := FoundBy(c.o); !slices.Equal(got, c.want) {
			t.Errorf("%s %s: found %q, want %q", c.o.Tool, c.o.Status, got, c.want)
		}
	}
}
