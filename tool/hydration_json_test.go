package tool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"adze/internal/testkit/golden"
	"adze/tool"
)

// TestHydrationAsJSON writes down the form in which a hydration leaves the program. The first line
// of a case's input is the call: origin, id, tool. The rest is what the model wrote.
func TestHydrationAsJSON(t *testing.T) {
	golden.Cases(t, "testdata/hydration", func(t *testing.T, c *golden.Case) {
		head, arguments, _ := strings.Cut(c.Input, "\n")
		word := strings.Fields(head)
		call := tool.RawCall{Origin: tool.Origin(word[0]), ID: tool.CallID(word[1]), Name: word[2], Arguments: arguments}
		calls := []tool.RawCall{call}
		if _, twice := c.Section("twice"); twice {
			calls = append(calls, call)
		}
		r := allowing()
		r.Now = ticking()
		hs := r.Hydrate(t.Context(), jsonSet(t), calls)
		c.Want(t, "want.json", indented(t, hs[len(hs)-1]))
		c.Want(t, "want.advice", r.Exec(t.Context(), hs[len(hs)-1]).Output)
	})
}

func indented(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func jsonSet(t *testing.T) *tool.Set {
	t.Helper()
	r := corpusRegistry(t)
	r.Now = func() time.Time { return time.Date(2026, 1, 2, 3, 4, 4, 0, time.UTC) }
	free := tool.Define("free", tool.Config[map[string]any, sayMeta]{
		AllowNoSchema: true, NoSchemaMode: tool.NoSchemaReadOnly, Permissions: tool.Requires(tool.Read), Redact: tool.Expose(),
		Run: func(context.Context, tool.Context[sayMeta], map[string]any) (res tool.Result[sayMeta], err error) {
			return res, nil
		},
	})
	if err := r.Register(free); err != nil {
		t.Fatal(err)
	}
	set, err := r.Tools(t.Context(), tool.Init{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}
