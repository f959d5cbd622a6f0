package conversation

import (
	"context"
	"errors"
	"slices"

	"adze/internal/stream/ask"
	"adze/tool"
)

// errOther says that hunks were chosen in a change that is another one by now: their numbers mean
// nothing any more.
var errOther = errors.New("the file changed meanwhile; this is how the change looks now")

// askFor asks until there is an answer that can be followed, and makes of it the call as the user
// wants it; if nil, as it was made. What cannot be followed is asked again, with what is wrong.
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

// changed is the call as it was answered. It shows the change anew where that is not the one that
// was looked at.
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

// diffs are the changes that a preview shows.
func diffs(blocks []tool.Block) (out []string) {
	for _, b := range blocks {
		if b.Kind == tool.DiffBlock {
			out = append(out, b.Path+"\x00"+b.Text)
		}
	}
	return out
}
