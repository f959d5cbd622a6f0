package models

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"adze/session"
	"adze/tool"
)

const (
	// repairTime bounds how long a user waits for a mended call.
	repairTime = 60 * time.Second
	// repairBytes bounds what is worth sending: the model answers with as much again.
	repairBytes = 32 << 10
)

// mender asks a model to mend the syntax of a call's arguments. It trusts nothing that comes back:
// the pipeline compares it with what was written.
type mender struct {
	model       Model
	instruction string
}

// Mender is a model as a tool.Repairer, with the text that tells it what to do.
func (m Model) Mender(instruction string) tool.Repairer { return mender{m, instruction} }

// Repair implements tool.Repairer.
func (m mender) Repair(ctx context.Context, b tool.Broken) (string, error) {
	if len(b.Arguments) > repairBytes {
		return "", fmt.Errorf("%d bytes of arguments are too many to mend", len(b.Arguments))
	}
	ctx, cancel := context.WithTimeout(ctx, repairTime)
	defer cancel()
	request := session.Request{
		Model: m.model.Name, System: m.instruction,
		Messages: []session.Message{{ID: "m1", Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: repairQuestion(b)}}}},
	}
	var text strings.Builder
	err := errors.New("the stream ended without its end")
	for c := range m.model.Provider.Stream(ctx, request) {
		switch c := c.(type) {
		case session.Text:
			text.WriteString(c.Delta)
		case session.Done:
			err = c.Err
		}
		if text.Len() > 2*repairBytes {
			return "", errors.New("the answer is longer than what it mends")
		}
	}
	return strings.TrimSpace(text.String()), err
}

func repairQuestion(b tool.Broken) string {
	var faults []string
	for _, f := range b.Faults {
		faults = append(faults, f.Message)
	}
	return fmt.Sprintf("tool: %s\nproblem: %s\nschema:\n%s\n\narguments:\n%s", b.Tool.Name, strings.Join(faults, "; "), b.Tool.Parameters, b.Arguments)
}
