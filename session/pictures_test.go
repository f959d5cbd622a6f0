package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"adze/session"
	"adze/tool"
)

// shooting is a tool that shows a picture with each call.
func shooting() tool.Tool {
	n := 0
	return tool.Define("shoot", tool.Config[noteArgs, noteMeta]{
		Description: "shoot", Permissions: tool.Requires(tool.Read), Redact: tool.Expose(),
		Needs: func(in noteArgs) []tool.Need { return []tool.Need{{Permission: tool.Read, Target: "screen"}} },
		Run: func(context.Context, tool.Context[noteMeta], noteArgs) (tool.Result[noteMeta], error) {
			n++
			return tool.Result[noteMeta]{Output: "taken", Attachments: []tool.Attachment{
				{Name: fmt.Sprintf("shot%d.png", n), MediaType: "image/png", Data: []byte{byte(n)}},
				{Name: "notes.txt", MediaType: "text/plain", Data: []byte("kept")},
			}}, nil
		},
	})
}

// shown lists the pictures of a request.
func shown(r session.Request) (names []string) {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Attachment != nil {
				names = append(names, p.Attachment.Name)
			}
			if p.Outcome != nil {
				for _, a := range p.Outcome.Attachments {
					names = append(names, a.Name)
				}
			}
		}
	}
	return names
}

// Pictures are the first to go when room is needed, before a request or after one was refused: all
// but those of the newest message that has any. A note says where they were, nothing is summed up,
// and the log keeps them.
func TestPicturesAreLeftOutFirst(t *testing.T) {
	tooLong := only(session.Done{Stop: session.StopError, Err: &session.ProviderError{Kind: session.ContextError, Message: "too long"}})
	shoot := func(id string) func(context.Context, func(session.Chunk) bool) {
		return says(text("I look."), call(id, "shoot", `{"text":"x"}`))
	}
	type step = func(context.Context, func(session.Chunk) bool)
	for name, c := range map[string]struct {
		window int
		steps  []step
	}{
		"before it is sent":    {6500, []step{shoot("a"), shoot("b"), shoot("c"), says(text("seen"))}},
		"after it was refused": {0, []step{shoot("a"), shoot("b"), shoot("c"), tooLong, says(text("seen"))}},
	} {
		t.Run(name, func(t *testing.T) {
			r := rigWith(t, []tool.Tool{shooting()}, c.steps...).window(c.window)
			s := session.New(r.config)
			mock := tool.Attachment{Name: "mock.png", MediaType: "image/png", Data: []byte{9}}
			res := s.Prompt(t.Context(), session.Input{Text: "go", Attachments: []tool.Attachment{mock}})
			wantCause(t, res, session.CauseDone)
			last := r.model.requests[len(r.model.requests)-1]
			names := strings.Join(shown(last), " ")
			if names != "notes.txt notes.txt shot3.png notes.txt" {
				t.Errorf("sent %s", names)
			}
			if got := last.Messages[0].Parts[1]; got.Kind != session.TextPart || !strings.Contains(got.Text, "mock.png was shown here") {
				t.Errorf("%+v", got)
			}
			if got := last.Messages[2].Parts[0].Outcome.Output; !strings.Contains(got, "shot1.png was shown here and is left out") {
				t.Errorf("%s", got)
			}
			if len(r.compactions(t)) != 0 || !r.shelf.has(session.OutcomeEntry, "shot1.png") {
				t.Error("the conversation was summed up, or the log has lost a picture")
			}
			told := 0
			for _, e := range r.events {
				if n, ok := e.(session.Notice); ok && strings.Contains(n.Text, "not sent any more") {
					told++
				}
				if p, ok := e.(session.PrefixChanged); ok && !p.Change.Expected {
					t.Errorf("%v", p.Change)
				}
			}
			if told == 0 || told > 3 {
				t.Errorf("told %d times", told)
			}
		})
	}
}

// Where there is room, every request holds the pictures as they were: a prefix that changes costs
// more than it saves.
func TestPicturesStayWhereThereIsRoom(t *testing.T) {
	r := rigWith(t, []tool.Tool{shooting()}, says(call("a", "shoot", `{"text":"x"}`)), says(call("b", "shoot", `{"text":"x"}`)), says(text("seen"))).window(100_000)
	wantCause(t, session.New(r.config).Prompt(t.Context(), session.Input{Text: "go"}), session.CauseDone)
	if names := strings.Join(shown(r.model.requests[2]), " "); names != "shot1.png notes.txt shot2.png notes.txt" {
		t.Errorf("sent %s", names)
	}
}

// A model that is known to take no pictures gets notes, and the user is told, of their own
// pictures and of a tool's.
func TestABlindModelIsSaid(t *testing.T) {
	r := rigWith(t, []tool.Tool{shooting()}, says(call("a", "shoot", `{"text":"x"}`)), says(text("seen")))
	r.config.RejectsImages = func(_, model string) bool { return model == r.config.Model }
	mock := tool.Attachment{Name: "mock.png", MediaType: "image/png", Data: []byte{9}}
	s := session.New(r.config)
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "go", Attachments: []tool.Attachment{mock}}), session.CauseDone)
	last := r.model.requests[1]
	if names := strings.Join(shown(last), " "); names != "notes.txt" {
		t.Errorf("sent %s", names)
	}
	if got := last.Messages[0].Parts[1].Text + last.Messages[2].Parts[0].Outcome.Output; strings.Count(got, "cannot be shown to you") != 2 {
		t.Errorf("%s", got)
	}
	told := 0
	for _, e := range r.events {
		if n, ok := e.(session.Notice); ok && strings.Contains(n.Text, "takes no pictures") {
			told++
		}
	}
	if told != 2 || s.History()[0].Parts[1].Attachment == nil {
		t.Errorf("told %d times; the conversation keeps %+v", told, s.History()[0].Parts[1])
	}
}

// A picture that the server does not take ends the turn that shows it, and not those after it.
func TestARefusedPictureEndsOneTurn(t *testing.T) {
	refused := only(session.Done{Stop: session.StopError, Err: &session.ProviderError{Kind: session.ContextError, Message: "at most 0 images"}})
	r := rigWith(t, nil, refused, refused, says(text("without it")))
	s := session.New(r.config)
	mock := tool.Attachment{Name: "mock.png", MediaType: "image/png", Data: []byte{9}}
	if res := s.Prompt(t.Context(), session.Input{Text: "look", Attachments: []tool.Attachment{mock}}); res.Cause == session.CauseDone {
		t.Errorf("the picture of the turn itself was left out: %+v", res)
	}
	wantCause(t, s.Prompt(t.Context(), session.Input{Text: "go on"}), session.CauseDone)
	last := r.model.requests[len(r.model.requests)-1]
	if len(shown(last)) > 0 || !strings.Contains(last.Messages[0].Parts[1].Text, "mock.png was shown here") {
		t.Errorf("sent %+v", last.Messages[0])
	}
}

// What a call attaches that a prompt is made by, goes to the model with the prompt.
func TestACommandsPictureGoesWithItsPrompt(t *testing.T) {
	r := rigWith(t, []tool.Tool{shooting()}, says(text("seen")))
	in := session.Input{Compose: func(_ context.Context, run func(tool.RawCall) tool.Outcome) (string, error) {
		return run(tool.RawCall{Name: "shoot", Arguments: `{"text":"x"}`, Origin: tool.FromCommand}).Output, nil
	}}
	wantCause(t, session.New(r.config).Prompt(t.Context(), in), session.CauseDone)
	if got := fmt.Sprint(shown(r.model.requests[0])); got != "[shot1.png notes.txt]" {
		t.Errorf("the model is shown %s", got)
	}
}
