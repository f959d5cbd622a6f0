package toolset

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"adze/tool"
)

// Inquiry is the model's question to the user.
type Inquiry struct {
	Agent    string // the subagent, or "" for the main conversation
	Asks     string // the author if not the model, such as an MCP server
	Question string
	Choices  []string // may be empty; the user may give another answer
}

// Inquire asks the user. Contract: it returns their answer, not blank; ctx.Err() when ctx ends
// first; an error when nobody can be asked any more. It must be safe for concurrent use.
type Inquire func(ctx context.Context, q Inquiry) (answer string, err error)

type askArgs struct {
	Question string   `json:"question" doc:"one short question"`
	Choices  []string `json:"choices,omitempty" doc:"ready answers, at most nine; the person may use other words"`
}

type askMeta struct {
	Question string   `json:"question"`
	Choices  []string `json:"choices,omitempty"`
	Answer   string   `json:"answer,omitempty"`
}

// Limits for a question, which a user reads before answering.
const (
	maxQuestion = 2000 // bytes
	maxChoice   = 300
	maxChoices  = 9
)

func ask(inquire Inquire) tool.Tool {
	return tool.Define("ask", tool.Config[askArgs, askMeta]{
		Description: describe("ask"),
		// It touches nothing, so every mode allows it without a question.
		Permissions: tool.Permissions{},
		Unoffered:   inquire == nil,
		Tags:        []string{"question", "person", "choose", "decide", "clarify"},
		Aliases:     []string{"ask_user", "ask_user_question", "ask_question", "ask_followup_question", "question", "request_user_input", "ask_person"},
		Compat: tool.Compat{
			Args: map[string]string{
				"text": "question", "prompt": "question", "message": "question", "options": "choices", "suggestions": "choices", "answers": "choices", "follow_up": "choices",
			},
			Ignored: ignored(map[string][]any{"multi_select": {false}, "multiple": {false}, "header": nil, "title": nil, "id": nil}),
		},
		Safety: tool.Safety{Safe: true},
		Redact: tool.Expose("question", "choices"),
		Run: func(ctx context.Context, c tool.Context[askMeta], in askArgs) (tool.Result[askMeta], error) {
			return runAsk(ctx, c, inquire, in)
		},
		View: viewAsk,
	})
}

func runAsk(ctx context.Context, c tool.Context[askMeta], inquire Inquire, in askArgs) (tool.Result[askMeta], error) {
	meta := askMeta{Question: strings.TrimSpace(in.Question), Choices: in.Choices}
	result := tool.Result[askMeta]{Title: oneLine(meta.Question, 80), Metadata: meta}
	if err := in.check(); err != nil {
		return result, err
	}
	if inquire == nil {
		return result, unanswered(meta)
	}
	c.Metadata(result.Title, meta)
	over := c.Waits()
	answer, err := inquire(ctx, Inquiry{Agent: c.Agent, Question: meta.Question, Choices: in.Choices})
	over()
	switch {
	case ctx.Err() != nil:
		return result, context.Cause(ctx)
	case err != nil:
		return result, unanswered(meta)
	}
	result.Metadata.Answer = answer
	result.Output = "The person answered: " + answer
	if slices.Contains(in.Choices, answer) {
		result.Output = "The person chose: " + answer
	}
	return result, nil
}

func (in askArgs) check() error {
	switch {
	case strings.TrimSpace(in.Question) == "":
		return tool.Fail(tool.CodeInvalidArguments, "the question is empty; ask one, or decide yourself")
	case len(in.Question) > maxQuestion:
		return tool.Fail(tool.CodeTooLarge, "the question has %d bytes, at most %d; write the rest as text before the call", len(in.Question), maxQuestion)
	case len(in.Choices) > maxChoices:
		return tool.Fail(tool.CodeLimit, "%d choices are too many, at most %d; the person may also answer in other words", len(in.Choices), maxChoices)
	}
	for i, choice := range in.Choices {
		switch {
		case strings.TrimSpace(choice) == "":
			return tool.Fail(tool.CodeInvalidArguments, "choice %d is empty; leave it out", i+1)
		case len(choice) > maxChoice:
			return tool.Fail(tool.CodeTooLarge, "choice %d has %d bytes, at most %d; explain it in the question", i+1, len(choice), maxChoice)
		case slices.Contains(in.Choices[:i], choice):
			return tool.Fail(tool.CodeInvalidArguments, "the choice %q stands there twice; leave one out", choice)
		}
	}
	return nil
}

// unanswered denies the call and keeps the question in the result for a user who comes later.
func unanswered(q askMeta) error {
	text := "nobody is here to answer: " + q.Question
	if len(q.Choices) > 0 {
		text += fmt.Sprintf(" (choices: %s)", strings.Join(q.Choices, "; "))
	}
	return &tool.Error{Code: tool.CodeDenied, Err: tool.ErrDenied,
		Message: text + "\nDecide it yourself and say what you assumed; if that cannot be, end with this question."}
}

func viewAsk(m askMeta) []tool.Block {
	blocks := tool.Text(m.Question)
	var items []tool.Item
	for _, c := range m.Choices {
		item := tool.Item{Text: c}
		if c == m.Answer {
			item.Note = "chosen"
		}
		items = append(items, item)
	}
	if m.Answer != "" && !slices.Contains(m.Choices, m.Answer) {
		items = append(items, tool.Item{Text: m.Answer, Note: "answered"})
	}
	if len(items) > 0 {
		blocks = append(blocks, tool.Block{Kind: tool.ListBlock, Items: items})
	}
	return blocks
}
