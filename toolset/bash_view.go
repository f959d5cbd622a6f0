package toolset

import (
	"cmp"
	"fmt"
	"time"

	"adze/internal/text/plural"
	"adze/tool"
)

func viewBash(m bashMeta) []tool.Block {
	title := "$ " + oneLine(m.Command, 200)
	if m.Workdir != "" {
		title = m.Workdir + " " + title
	}
	blocks := tool.Output(title, cmp.Or(endLine(m.Tail), bashState(m)))
	blocks[0].Total = int(m.Lines)
	return blocks
}

// bashState is one line about a command that printed nothing, "" before it runs.
func bashState(m bashMeta) string {
	took := short(time.Duration(m.Millis) * time.Millisecond)
	switch {
	case m.Job != "":
		return "background " + m.Job
	case m.Running:
		return ""
	case m.Killed != "":
		return "ended by " + m.Killed + " after " + took
	case m.Signal != "":
		return "ended by " + m.Signal + " after " + took
	case m.Exit != nil:
		return fmt.Sprintf("exit %d · %s · %s", *m.Exit, took, plural.Of(m.Lines, "line"))
	}
	return ""
}
