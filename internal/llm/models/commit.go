package models

import (
	"context"
	"errors"
	"strings"
	"time"

	"adze/session"
)

const (
	// commitTime bounds a request for the message of a commit; the user waits for it.
	commitTime = 60 * time.Second
	// commitBytes bounds what of a change is sent, and the message that comes back.
	commitBytes = 24 << 10
)

const commitInstruction = "Write the message of a git commit for the change that you are shown: a subject of at most 72 characters, " +
	"in the style of the subjects of earlier commits. Where the reason is not plain from the subject, add an empty line and a short text that gives it. " +
	"Answer with the message alone: no quotation marks, no code fence, no remark."

// CommitMessage has a model draft the message of a commit in one request, from a patch and the
// subjects of the newest commits.
func (m Model) CommitMessage(ctx context.Context, patch string, recent []string) (message string, u session.Usage, err error) {
	ctx, cancel := context.WithTimeout(ctx, commitTime)
	defer cancel()
	var text strings.Builder
	if len(recent) > 0 {
		text.WriteString("Subjects of earlier commits:\n" + strings.Join(recent, "\n") + "\n\n")
	}
	if len(patch) > commitBytes {
		patch = strings.ToValidUTF8(patch[:commitBytes], "") + "\n… the rest is left out"
	}
	text.WriteString("The change:\n" + patch + "\n\nThe message:")
	said, u, err := m.once(ctx, commitInstruction, text.String(), commitBytes)
	if message = messageIn(said); err == nil && message == "" {
		err = errors.New("the model gave no message")
	}
	return message, u, err
}

// messageIn takes the message out of what a model said: without a fence and without blanks around
// it.
func messageIn(said string) string {
	said = strings.TrimSpace(said)
	if first, rest, ok := strings.Cut(said, "\n"); ok && strings.HasPrefix(first, "```") {
		said = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "```"))
	}
	return said
}
