package models

import (
	"context"
	"errors"
	"strings"
	"time"

	"adze/session"
)

const (
	// The user waits for the message.
	commitTime = 60 * time.Second
	// for the sent patch and the message
	commitBytes = 24 << 10
)

const commitInstruction = "Write the message of a git commit for the change that you are shown: a subject of at most 72 characters, " +
	"in the style of the subjects of earlier commits. Where the reason is not plain from the subject, add an empty line and a short text that gives it. " +
	"Answer with the message alone: no quotation marks, no code fence, no remark."

// CommitMessage drafts a commit message in one request, from a patch and the newest commits'
// subjects.
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

// messageIn strips a fence and blanks from a model's answer.
func messageIn(said string) string {
	said = strings.TrimSpace(said)
	if first, rest, ok := strings.Cut(said, "\n"); ok && strings.HasPrefix(first, "```") {
		said = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "```"))
	}
	return said
}
