package models

import (
	"context"
	"errors"
	"strings"
	"time"

	"adze/session"
)

const (
	// Nobody waits for a title.
	titleTime = 60 * time.Second
	// for the sent prompt and the sent answer
	titleBytes = 2 << 10
	titleRunes = 60
)

const titleInstruction = "Name the conversation in two to seven words, in the language of the person, as a title in a list. " +
	"Answer with the title alone: one line, no quotation marks, no full stop."

// Title requests a conversation's title: one short line, or an error.
func (m Model) Title(ctx context.Context, asked, answered string) (title string, u session.Usage, err error) {
	ctx, cancel := context.WithTimeout(ctx, titleTime)
	defer cancel()
	text := "The person said:\n" + shortText(asked) + "\n\nThe answer was:\n" + shortText(answered) + "\n\nThe title:"
	said, u, err := m.once(ctx, titleInstruction, text, titleBytes)
	if title = titleIn(said); err == nil && title == "" {
		err = errors.New("the model gave no title")
	}
	return title, u, err
}

// once makes one request without tools and returns the answer's beginning.
func (m Model) once(ctx context.Context, instruction, text string, most int) (said string, u session.Usage, err error) {
	request := session.Request{Model: m.Name, System: instruction, MaxTokens: 2000, Choice: session.ChooseNone, // some models think first
		Messages: []session.Message{{ID: "m1", Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: text}}}}}
	var all strings.Builder
	err = errors.New("the stream ended without its end")
	for c := range m.Provider.Stream(ctx, request) {
		switch c := c.(type) {
		case session.Text:
			if all.Len() < most {
				all.WriteString(c.Delta)
			}
		case session.Reasoning:
			if c.Earlier {
				all.Reset()
			}
		case session.Done:
			err, u = c.Err, c.Usage
		}
	}
	return all.String(), u, err
}

func shortText(text string) string {
	if len(text) > titleBytes {
		return strings.ToValidUTF8(text[:titleBytes], "") + " …"
	}
	return text
}

// titleIn extracts the last plausible line of a model's answer, without decoration.
func titleIn(said string) string {
	title := ""
	for line := range strings.Lines(said) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			title = line
		}
	}
	title = strings.TrimPrefix(strings.TrimPrefix(title, "Title:"), "**Title:**")
	title = strings.Trim(title, " \"'`*#“”„«».:")
	if runes := []rune(title); len(runes) > titleRunes {
		title = strings.TrimSpace(string(runes[:titleRunes-1])) + "…"
	}
	return title
}
