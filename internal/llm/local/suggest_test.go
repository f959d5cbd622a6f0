package local_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"adze/internal/llm/local"
	"adze/session"
)

// lacking refuses every model, in one kind of error.
type lacking struct{ kind session.ErrorKind }

func (lacking) Name() string { return "s" }

func (s lacking) Stream(context.Context, session.Request) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) {
		yield(session.Done{Stop: session.StopError, Err: &session.ProviderError{Kind: s.kind, Message: "no", Hint: "check the name"}})
	}
}

func hintOf(t *testing.T, s lacking, model string, names []string, err error) (hint string, asked int) {
	t.Helper()
	p := local.Suggest(func(context.Context) ([]string, error) { asked++; return names, err })(s)
	for c := range p.Stream(context.Background(), session.Request{Model: model}) {
		var failed *session.ProviderError
		if done, ok := c.(session.Done); ok && errors.As(done.Err, &failed) {
			hint = failed.Hint
		}
	}
	return hint, asked
}

func TestTheServersOwnModelsStandInTheError(t *testing.T) {
	var many []string
	for i := range 20 {
		many = append(many, fmt.Sprintf("m%02d", i))
	}
	for name, c := range map[string]struct {
		model string
		names []string
		err   error
		want  string
	}{
		"a near one":      {"gpt-5.4-min", []string{"gpt-5.4-mini", "embed"}, nil, "did you mean s/gpt-5.4-mini?\ncheck the name\ns has embed, gpt-5.4-mini"},
		"none is near":    {"zzzzzz", []string{"b", "a"}, nil, "check the name\ns has a, b"},
		"many":            {"zzzzzz", many, nil, "check the name\ns has m00, m01, m02, m03, m04, m05, m06, m07 and 12 more: adze models s --check"},
		"no answer":       {"zzzzzz", nil, errors.New("x"), "check the name"},
		"it has it after": {"a", []string{"a"}, nil, "check the name"},
	} {
		if got, _ := hintOf(t, lacking{session.NoModelError}, c.model, c.names, c.err); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got, asked := hintOf(t, lacking{session.AuthError}, "a", []string{"b"}, nil); asked > 0 || strings.Contains(got, "b") {
		t.Errorf("asked %d times for an error about something else: %q", asked, got)
	}
}
