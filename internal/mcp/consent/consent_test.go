package consent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp/wire"
)

// person answers with what stands ready, and keeps what they were shown.
type person struct {
	mu      sync.Mutex
	answers []string
	shown   []Question
}

func (p *person) ask(_ context.Context, q Question) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown = append(p.shown, q)
	if len(p.answers) == 0 {
		return "", errors.New("they closed it")
	}
	said := p.answers[0]
	p.answers = p.answers[1:]
	return said, nil
}

// asked has a server of the SDK's ask while a call runs, over a wire.
func asked(t *testing.T, d *Asker, p *sdk.ElicitParams) *sdk.ElicitResult {
	t.Helper()
	var got *sdk.ElicitResult
	server := sdk.NewServer(&sdk.Implementation{Name: "s"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "ask"}, func(ctx context.Context, r *sdk.CallToolRequest, _ struct{}) (_ *sdk.CallToolResult, _ any, err error) {
		got, err = r.Session.Elicit(ctx, p)
		return &sdk.CallToolResult{}, nil, err
	})
	near, far := sdk.NewInMemoryTransports()
	over, err := server.Connect(t.Context(), far, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer over.Close()
	client := sdk.NewClient(&sdk.Implementation{Name: "c"}, &sdk.ClientOptions{
		Capabilities:       &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}}},
		ElicitationHandler: d.Elicit("acme"),
	})
	s, err := client.Connect(t.Context(), near, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if out, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "ask"}); err != nil || out.IsError {
		t.Fatalf("%+v, %v", out, err)
	}
	return got
}

const form = `{"type":"object","required":["name","level"],"properties":{
 "name":{"type":"string","title":"Your name","minLength":2},
 "level":{"type":"string","enum":["a","b"],"enumNames":["Alpha","Beta"]},
 "mail":{"type":"string","format":"email"},
 "count":{"type":"integer","minimum":1,"maximum":9,"default":3},
 "sure":{"type":"boolean"},
 "kinds":{"type":"array","minItems":1,"items":{"anyOf":[{"const":"x","title":"Ex"},{"const":"y","title":"Why"}]}}}}`

func parsed(t *testing.T, text string) any {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// asOrdered is a schema as the wire's filter hands it over.
func asOrdered(text string) any { return map[string]any{"type": "object", wire.Schema: text} }

func TestAFormIsAskedFieldByField(t *testing.T) {
	p := &person{answers: []string{"A", "Ann", "Beta", "not a mail", "ann@example.org", "leave it out", "yes", "Ex, Why"}}
	got := asked(t, &Asker{Ask: p.ask}, &sdk.ElicitParams{Message: "Who \x1b[31mare\u202e you?", RequestedSchema: asOrdered(form)})
	want := map[string]any{"name": "Ann", "level": "b", "kinds": []any{"x", "y"}, "mail": "ann@example.org", "sure": true}
	if got.Action != accept || !reflect.DeepEqual(got.Content, want) {
		t.Errorf("%+v", got)
	}
	if q := p.shown[0]; q.Server != "acme" || !strings.HasPrefix(q.Text, "Who [31mare you?\n\n(1 of 6) Your name") || len(q.Choices) > 0 {
		t.Errorf("%+v", q)
	}
	if q := p.shown[2]; !strings.Contains(q.Text, "(2 of 6) level") || strings.Join(q.Choices, "|") != "Alpha|Beta" {
		t.Errorf("%+v", q)
	}
	if q := p.shown[5]; strings.Join(q.Choices, "|") != "3|leave it out" || !strings.Contains(q.Text, "default: 3") {
		t.Errorf("%+v", q)
	}
	if q := p.shown[4]; !strings.Contains(q.Text, "does not fit") {
		t.Errorf("%+v", q)
	}
}

// TestEachKindOfFieldHasItsDefault as a ready answer, and nothing is sent for a field that is left
// out, whatever its default.
func TestEachKindOfFieldHasItsDefault(t *testing.T) {
	const all = `{"type":"object","properties":{
 "text":{"type":"string","default":"some text"},
 "number":{"type":"number","default":1.5},
 "truth":{"type":"boolean","default":false},
 "one":{"type":"string","enum":["r","g"],"default":"g"},
 "titled":{"type":"string","oneOf":[{"const":"r","title":"Red, dark"},{"const":"g","title":"Green"}],"default":"r"},
 "old":{"enum":["r","g"],"enumNames":["Red","Green"],"default":"g"},
 "several":{"type":"array","items":{"type":"string","enum":["r","g","b"]},"default":["r","b"]},
 "titles":{"type":"array","items":{"anyOf":[{"const":"r","title":"Red, dark"},{"const":"g","title":"Green"}]},"default":["r","g"]},
 "day":{"type":"string","format":"date","default":"2026-01-02"}}}`
	fields, err := fieldsOf(asOrdered(all))
	if err != nil || len(fields) != 9 {
		t.Fatal(fields, err)
	}
	want := map[string]any{"text": "some text", "number": 1.5, "truth": false, "one": "g", "titled": "r", "old": "g", "several": []any{"r", "b"}, "titles": []any{"r", "g"}, "day": "2026-01-02"}
	p, leaves := &person{}, &person{}
	for i, f := range fields {
		if i == 0 && f.name != "text" || i == 8 && f.name != "day" {
			t.Error(f.name, "is not in its place")
		}
		p.answers, leaves.answers = append(p.answers, f.presetAnswer()), append(leaves.answers, without)
		if f.presetAnswer() == "" || !slices.Contains(f.choices(), f.presetAnswer()) || f.choices()[len(f.choices())-1] != without {
			t.Errorf("%s: %q of %q", f.name, f.presetAnswer(), f.choices())
		}
	}
	if got := asked(t, &Asker{Ask: p.ask}, &sdk.ElicitParams{Message: "m", RequestedSchema: asOrdered(all)}); !reflect.DeepEqual(got.Content, want) {
		t.Errorf("%+v", got)
	}
	if got := asked(t, &Asker{Ask: leaves.ask}, &sdk.ElicitParams{Message: "m", RequestedSchema: asOrdered(all)}); got.Action != accept || len(got.Content) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestAFormOfManyFields is asked to its end.
func TestAFormOfManyFields(t *testing.T) {
	var text []string
	p := &person{}
	for i := range 40 {
		text = append(text, fmt.Sprintf(`"f%d":{"type":"string"}`, 40-i))
		p.answers = append(p.answers, fmt.Sprint("answer ", 40-i))
	}
	got := asked(t, &Asker{Ask: p.ask}, &sdk.ElicitParams{Message: "m", RequestedSchema: asOrdered(`{"type":"object","properties":{` + strings.Join(text, ",") + `}}`)})
	if len(got.Content) != 40 || got.Content["f7"] != "answer 7" || got.Content["f40"] != "answer 40" {
		t.Errorf("%+v", got)
	}
}

func TestAQuestionThatIsNotAnswered(t *testing.T) {
	one := `{"type":"object","required":["n"],"properties":{"n":{"type":"number"}}}`
	for name, c := range map[string]struct {
		d      *Asker
		schema string
		action string
	}{
		"nobody is there":   {&Asker{}, one, decline},
		"they refuse":       {&Asker{Ask: (&person{}).ask}, one, decline},
		"nothing fits":      {&Asker{Ask: (&person{answers: []string{"NaN", "1e99", "0x1", "5"}}).ask}, one, decline},
		"yes to no field":   {&Asker{Ask: (&person{answers: []string{"yes"}}).ask}, `{"type":"object","properties":{}}`, accept},
		"other to no field": {&Asker{Ask: (&person{answers: []string{"perhaps"}}).ask}, `{"type":"object","properties":{}}`, decline},
	} {
		if got := asked(t, c.d, &sdk.ElicitParams{Message: "m", RequestedSchema: parsed(t, c.schema)}); got.Action != c.action {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Schemas that are no forms are declined without a question.
func TestAFormThatCannotBeShown(t *testing.T) {
	many := map[string]any{}
	for range maxFields + 1 {
		many[strings.Repeat("f", len(many)+1)] = map[string]any{"type": "string"}
	}
	for _, s := range []any{
		map[string]any{"properties": many},
		map[string]any{"properties": map[string]any{"a": map[string]any{"type": "object"}}},
		map[string]any{"properties": map[string]any{"a": map[string]any{"type": "array", "items": map[string]any{"type": "string"}}}},
		map[string]any{"properties": map[string]any{"a": 1, "b": nil}},
	} {
		p := &person{answers: []string{"yes", "yes"}}
		got, err := (&Asker{Ask: p.ask}).Elicit("acme")(t.Context(), &sdk.ElicitRequest{Params: &sdk.ElicitParams{Message: "m", RequestedSchema: s}})
		if err != nil || got.Action != decline || len(p.shown) > 0 {
			t.Errorf("%v: %+v, %v", s, got, err)
		}
	}
}

func TestAPageIsOpenedOnlyWithConsent(t *testing.T) {
	for _, c := range []struct {
		address, said, action string
		opens                 bool
	}{
		{"https://a.example/login?x=1", openIt, accept, true},
		{"https://a.example/login?x=1", opened, accept, false},
		{"https://a.example/login?x=1", not, decline, false},
		{"https://a.example/login?x=1", "hm", decline, false},
		{"file:///etc/passwd", openIt, decline, false},
		{"javascript:alert(1)", openIt, decline, false},
		{"https://a.example/\x1b]0;x", openIt, decline, false},
		{"https://user:pass@a.example/", openIt, decline, false},
	} {
		p, got := &person{answers: []string{c.said}}, ""
		d := &Asker{Ask: p.ask, Open: func(address string) error { got = address; return nil }}
		result, err := d.Elicit("acme")(t.Context(), &sdk.ElicitRequest{Params: &sdk.ElicitParams{Mode: "url", Message: "m", URL: c.address}})
		if err != nil || result.Action != c.action || (got != "") != c.opens {
			t.Errorf("%+v: %+v, %v, opened %q", c, result, err, got)
		}
		if len(p.shown) > 0 && !strings.Contains(p.shown[0].Text, "a page of a.example:\n"+c.address) {
			t.Errorf("%+v", p.shown)
		}
	}
}

// A server that asks without end does not bury the user.
func TestAFloodOfQuestionsIsDeclined(t *testing.T) {
	let := make(chan struct{})
	var told []string
	d := &Asker{Ask: func(ctx context.Context, _ Question) (string, error) { <-let; return yes, nil }, Report: func(s string) { told = append(told, s) }}
	ask := func() string {
		r, err := d.Elicit("acme")(t.Context(), &sdk.ElicitRequest{Params: &sdk.ElicitParams{Message: "m"}})
		if err != nil {
			t.Error(err)
		}
		return r.Action
	}
	var all sync.WaitGroup
	for range maxWaiting {
		d.enter("acme")
	}
	if got := ask(); got != decline || len(told) != 1 {
		t.Errorf("%s, %v", got, told)
	}
	for range maxWaiting {
		d.leave("acme")
	}
	all.Go(func() {
		if got := ask(); got != accept {
			t.Error(got)
		}
	})
	close(let)
	all.Wait()
}
