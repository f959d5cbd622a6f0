package toolset

import (
	"context"
	"strings"
	"time"

	"adze/internal/text/redact"
	"adze/tool"
)

// admit says where a command runs, or why it cannot.
func (b basher) admit(ctx context.Context, ask asker, in bashArgs) (dir string, err error) {
	if err := b.sound(in); err != nil {
		return "", err
	}
	return b.workdir(ctx, ask, in.Workdir)
}

// check tells of a command that is none, and of a folder that is not there where that may be known.
func (b basher) check(ctx context.Context, c tool.Context[bashMeta], in bashArgs) error {
	if err := b.sound(in); err != nil || in.Workdir == "" {
		return err
	}
	if err := c.Ask(ctx, tool.Need{Permission: tool.Read, Target: in.Workdir}); err != nil {
		return err
	}
	_, err := b.workdir(ctx, c.Ask, in.Workdir)
	return err
}

func (b basher) sound(in bashArgs) error {
	switch {
	case strings.TrimSpace(in.Command) == "":
		return tool.Fail(tool.CodeInvalidArguments, "the command is empty; give a command line")
	case strings.Contains(in.Command, redact.Mark):
		return tool.Fail(tool.CodeInvalidArguments, "the command holds %s, which stands for a secret that you were not shown and is not its value; leave it to the user, or name a variable or file that holds it", redact.Mark)
	case len(in.Command) > maxCommand:
		return tool.Fail(tool.CodeTooLarge, "the command has %d bytes, at most %d; write it to a file and run that", len(in.Command), maxCommand)
	case time.Duration(in.Timeout) > b.shell.MaxTimeout/time.Second:
		return tool.Fail(tool.CodeInvalidArguments, "timeout is in seconds and at most %d%s",
			int(b.shell.MaxTimeout.Seconds()), b.unlessBrief("; for longer work use background: true"))
	}
	if program := opensScreen(in.Command); program != "" {
		return tool.Fail(tool.CodeInvalidArguments, needsKeys, program)
	}
	return nil
}
