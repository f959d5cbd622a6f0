package wire_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"adze/internal/llm/wire"
	"adze/session"
)

// chunksOf is what a consumer gets of text in pieces.
func chunksOf(pieces ...string) string {
	var b strings.Builder
	last := ""
	for c := range wire.Stream(context.Background(), func(out *wire.ChunkSender) (session.Done, error) {
		for _, p := range pieces {
			if err := out.Text(p); err != nil {
				return session.Done{}, err
			}
		}
		return session.Done{Stop: session.StopEnd}, nil
	}) {
		kind, delta := "", ""
		switch c := c.(type) {
		case session.Text:
			kind, delta = "text", c.Delta
		case session.Reasoning:
			if kind, delta = "thought", c.Delta; c.Earlier {
				kind, last = "thought so far", ""
			}
		default:
			continue
		}
		if kind != last {
			fmt.Fprintf(&b, "[%s]", kind)
		}
		b.WriteString(delta)
		last = kind
	}
	return b.String()
}

// Servers without a reasoning parser (llama.cpp, LM Studio, vLLM, Ollama for a model without its
// template) leave thoughts in the text. However the pieces are cut, they are no answer.
func TestThoughtsInTheText(t *testing.T) {
	for text, want := range map[string]string{
		"<think>\nI look.\n</think>\n\nFour.":              "[thought]\nI look.\n[text]Four.",
		"\n<think></think>Four.":                           "[text]Four.",
		"[THINK]hm[/THINK]Four.":                           "[thought]hm[text]Four.",
		"<think>It never ends":                             "[thought]It never ends",
		"It is four.":                                      "[text]It is four.",
		"  a <think> in the text</think> stays":            "[text]  a <think> in the text</think> stays",
		"The tag `</think>` ends a thought.":               "[text]The tag `</think>` ends a thought.",
		"<thin ice>":                                       "[text]<thin ice>",
		" \n":                                              "[text] \n",
		"<think>a</think><think>b</think>c</think>":        "[thought]ab[text]c</think>",
		"<thinking>a </think> b</thinking>\nIt is</think>": "[thought]a </think> b[text]It is</think>",
	} {
		for cut := range len(text) {
			if got := chunksOf(text[:cut], text[cut:]); got != want {
				t.Errorf("%q cut at %d: %q, want %q", text, cut, got, want)
				break
			}
		}
	}
	if got := chunksOf("I look.", "\n</th", "ink>\n\nFour."); got != "[text]I look.\n[thought so far][text]Four." {
		t.Errorf("a lone end: %q", got)
	}
}

// A server that cuts text in UTF-16 sends a character in two events.
func TestSurrogateHalvesAreJoined(t *testing.T) {
	for _, c := range []struct {
		events []string
		want   string
	}{
		{[]string{`a\ud83d`, `\ude00b`}, "a😀b"},
		{[]string{`a\uD83D`, ``, `\uDE00`}, "a😀"},
		{[]string{`a\ud83d`, `b`}, "a\uFFFDb"},
		{[]string{`\ude00`, `\\ud83d`, `x\ud83d`}, "\uFFFD\\ud83dx\uFFFD"},
		{[]string{`\ud83d\ude00`}, "😀"},
	} {
		var text, arguments string
		for chunk := range wire.Stream(context.Background(), func(out *wire.ChunkSender) (session.Done, error) {
			client := wire.Adapt(wire.Options{Name: "s"}, "", nil).Client
			a := wire.Answer{Client: &client, Chunks: out, Calls: client.Calls(nil)}
			for _, e := range c.events {
				var v struct{ T string }
				if err := a.Decode([]byte(`{"T":"`+e+`"}`), false, &v); err != nil {
					return session.Done{}, err
				}
				if err := errors.Join(out.Text(v.T), a.Grow(wire.Fragment{Name: "write<|channel|>commentary", ID: "c", Arguments: v.T})); err != nil {
					return session.Done{}, err
				}
			}
			return a.Done, a.Conclude(nil)
		}) {
			switch chunk := chunk.(type) {
			case session.Text:
				text += chunk.Delta
			case session.Call:
				arguments = chunk.Name + " " + chunk.Arguments
			}
		}
		if text != c.want || arguments != "write "+c.want {
			t.Errorf("%q: text %q, arguments %q, want %q", c.events, text, arguments, c.want)
		}
	}
}

// The reasons are those of vLLM (repetition), of gateways, and of Anthropic and Z.ai for a full
// context, as they were seen.
func TestEnds(t *testing.T) {
	for reason, want := range map[string]string{
		"stop": "true", "tool_calls": "true", "STOP": "true", "eos_token": "true", "": "true",
		"length": "false length", "MAX_TOKENS": "false length",
		"repetition": "false bad_response", "cancelled": "false bad_response", "budget_exceeded": "false bad_response", "xyz": "false bad_response",
		"timeout": "false server", "load_shed": "false server", "error": "false server",
		"model_context_window_exceeded": "false context", "SAFETY": "false refused",
	} {
		client := wire.Adapt(wire.Options{Name: "s"}, "", nil).Client
		a := wire.Answer{Client: &client}
		finished, err := a.Ending(reason, "")
		got := strings.TrimSpace(fmt.Sprint(finished, " ", a.Done.Stop))
		var failed *session.ProviderError
		if errors.As(err, &failed) {
			got += " " + string(failed.Kind)
			if !strings.Contains(failed.Message, reason) {
				t.Errorf("%s: %s", reason, failed.Message)
			}
		}
		if strings.Join(strings.Fields(got), " ") != want {
			t.Errorf("%s: %s, want %s", reason, got, want)
		}
	}
}

// The standard takes no blank away from the beginning of a line: such a line is a field that nobody
// knows.
func TestALineThatBeginsWithABlankIsIgnored(t *testing.T) {
	events := wire.NewEvents(strings.NewReader("data: 1\n data: 2\n\ndata: 3\n\n"))
	for _, want := range []string{"1", "3"} {
		if e, err := events.Next(); err != nil || string(e.Data) != want {
			t.Errorf("%q, %v; want %q", e.Data, err, want)
		}
	}
}
