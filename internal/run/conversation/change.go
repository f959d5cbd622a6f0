package conversation

import (
	"context"
	"errors"
	"slices"

	"adze/internal/stream/ask"
	"adze/tool"
)

// errOther means that the change differs from the one in which hunks were chosen, so their numbers
// are invalid.
var errOther = errors.New("the file changed meanwhile; this is how the change looks now")

// askFor asks until the answer can be carried out, and returns the changed call, or nil for the
// original one. After a failure it asks again and shows the problem.
func askFor(ctx context.Context, put func(context.Context, ask.Permission) (ask.Answer, error), a ask.Permission) (ask.Answer, *tool.Change, error) {
	for {
		answer, err := put(ctx, a)
		if err != nil || answer.Choice != ask.Once {
			return answer, nil, err
		}
		change, err := changed(ctx, &a, answer)
		if err == nil || ctx.Err() != nil {
			return answer, change, ctx.Err()
		}
		a.Problem = err.Error()
	}
}

// changed returns the call changed by an answer. If the preview is outdated, it renews the preview
// and returns errOther.
func changed(ctx context.Context, a *ask.Permission, answer ask.Answer) (*tool.Change, error) {
	q := a.Question
	switch {
	case answer.Text != "" && q.Editing != nil:
		c := q.Editing.With(answer.Text)
		return &c, nil
	case len(answer.Refused) > 0:
		if now := q.Preview(ctx); !slices.Equal(diffs(now), diffs(a.Preview)) {
			a.Preview = now
			return nil, errOther
		}
		return q.Without(ctx, answer.Refused, answer.Reason)
	}
	return nil, nil
}

// diffs returns a preview's diffs.
func diffs(blocks []tool.Block) (out []string) {
	for _, b := range blocks {
		if b.Kind == tool.DiffBlock {
			out = append(out, b.Path+"\x00"+b.Text)
		}
	}
	return out
}
