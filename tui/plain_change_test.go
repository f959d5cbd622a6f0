package tui

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/session"
	"adze/tool"
	"adze/tui/permission"
	"adze/tui/port"
)

// TestPlainChangesCalls: by lines a command is rewritten, with its indents, and hunks are refused with a reason. What is
// not one of the hunks, or no command at all, is asked again.
func TestPlainChangesCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, keys := io.Pipe()
		screen, out := io.Pipe()
		bash := permission.Ask{Question: tool.Question{Tool: tool.Definition{Name: "bash"},
			Editing: &tool.Editing{Name: "command", Text: "rm \u202ex"}}}
		edit := permission.Ask{Question: tool.Question{Tool: tool.Definition{Name: "edit"},
			Without: func(context.Context, []int, string) (*tool.Change, error) { return nil, nil }},
			Preview: []tool.Block{{Kind: tool.DiffBlock, Path: "a", Text: "@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n"}}}
		var got []string
		var u *UI
		u = New(Options{In: in, Out: out, Blocks: testBlocks, Send: func(ctx context.Context, _ port.Prompt) session.Result {
			for _, a := range []permission.Ask{bash, bash, edit, edit} {
				answer, err := u.Ask(ctx, a)
				got = append(got, fmt.Sprintf("%d %q %v %q %v", answer.Choice, answer.Text, answer.Refused, answer.Reason, err))
			}
			r := session.Result{Cause: session.CauseDone}
			u.Observe(session.TurnEnd{Result: r})
			return r
		}})
		ended := make(chan error, 1)
		go func() {
			ended <- u.RunPlain(t.Context())
			out.Close()
		}()
		lines := bufio.NewScanner(screen)
		until := func(part string) {
			t.Helper()
			for lines.Scan() {
				if strings.Contains(lines.Text(), part) {
					return
				}
			}
			t.Fatalf("the end before %q", part)
		}
		press := func(written ...string) {
			time.Sleep(permission.Guard) // of the bubble's clock
			for _, line := range written {
				_, _ = io.WriteString(keys, line+"\n")
			}
		}
		until("/quit leaves")
		press("go")
		until("c changes the command first")
		press("c")
		until("rm <U+202E>x")
		until("Write all of it anew")
		press(" ", ".")
		until("c changes the command first")
		press("c")
		until("Write all of it anew")
		press("cat <<X", "  in", "X", ".")
		until("c changes the command first")
		press("c")
		until("Write all of it anew")
		press("rm <U+202E>x", ".") // as it was shown: as it was made
		until("h lists its 2 hunks")
		press("h")
		until("hunk 2 of 2")
		until("Answer now")
		press("h 0")
		until("there are 2")
		press("h 2 d is wrong")
		until("h lists its 2 hunks")
		press("h 2,1")
		until("Ready.")
		press("/quit")
		if err := <-ended; err != nil {
			t.Error(err)
		}
		want := []string{`1 "cat <<X\n  in\nX" [] "" <nil>`, `1 "" [] "" <nil>`, `1 "" [2] "d is wrong" <nil>`, `0 "" [] "" <nil>`}
		if !slices.Equal(got, want) {
			t.Errorf("answered\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		in.Close()
	})
}
