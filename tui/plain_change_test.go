package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"adze/internal/stream/ask"
	"adze/session"
	"adze/session/api"
	"adze/tool"
)

// TestPlainChangesCalls: by lines a command is rewritten, with its indents, and hunks are refused
// with a reason. What is not one of the hunks, or no command at all, is asked again.
func TestPlainChangesCalls(t *testing.T) {
	bash := ask.Permission{Question: tool.Question{Tool: tool.Definition{Name: "bash"},
		Editing: &tool.Editing{Name: "command", Text: "rm \u202ex"}}}
	edit := ask.Permission{Question: tool.Question{Tool: tool.Definition{Name: "edit"},
		Without: func(context.Context, []int, string) (*tool.Change, error) { return nil, nil }},
		Preview: []tool.Block{{Kind: tool.DiffBlock, Path: "a", Text: "@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n"}}}
	var got []string
	talking(t, func(k *talk, o *Options) {
		o.Send = func(ctx context.Context, _ api.Prompt) session.Result {
			for _, a := range []ask.Permission{bash, bash, edit, edit} {
				answer, err := k.ui.Ask(ctx, a)
				got = append(got, fmt.Sprintf("%d %q %v %q %v", answer.Choice, answer.Text, answer.Refused, answer.Reason, err))
			}
			r := session.Result{Cause: session.CauseDone}
			k.ui.Observe(session.TurnEnd{Result: r})
			return r
		}
	}, func(k *talk) {
		press := func(lines ...string) { k.waits(); k.press(lines...) }
		press("go")
		k.until("e edits the command first")
		press("e")
		k.until("rm <U+202E>x")
		k.until("Write the whole command again")
		press(" ", ".")
		k.until("e edits the command first")
		press("e")
		k.until("Write the whole command again")
		press("cat <<X", "  in", "X", ".")
		k.until("e edits the command first")
		press("e")
		k.until("Write the whole command again")
		press("rm <U+202E>x", ".") // as it was shown: as it was made
		k.until("e lists its 2 hunks")
		press("e")
		k.until("hunk 2 of 2")
		k.until("Answer now")
		press("e 0")
		k.until("there are 2")
		press("e 2 d is wrong")
		k.until("e lists its 2 hunks")
		press("e 2,1")
		k.until("Ready.")
		press("/quit")
	})
	want := []string{`1 "cat <<X\n  in\nX" [] "" <nil>`, `1 "" [] "" <nil>`, `1 "" [2] "d is wrong" <nil>`, `0 "" [] "" <nil>`}
	if !slices.Equal(got, want) {
		t.Errorf("answered\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
