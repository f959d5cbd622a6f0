// Package outputschema holds the last answer of a run to a JSON Schema: it tells the model, judges
// what came, and takes the value out.
//
// The one rule: a value is taken as it was written; nothing in it is mended or completed.
//
// Start reading at Read. A nil *Schema asks for nothing, and every method of it says so.
//
// Known limits: of an answer with a value and prose around it only one whole fenced block is
// understood; the others are sent back.
package outputschema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"adze/internal/text/usage"
	"adze/session"
	"adze/tool"
	"adze/tool/laxjson"
	"adze/tool/schema"
)

// Bounds of --output-schema: the file, how often the model may try again, and how many faults it is
// told at once.
const (
	maxSchemaFile = 1 << 20
	maxTries      = 2
	maxFaults     = 10
)

// Schema is what is asked of the final answer: one JSON value that it accepts.
type Schema struct {
	schema json.RawMessage
	check  tool.Check
}

// Read reads the file of --output-schema; without a path there is none.
func Read(path string) (*Schema, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, usage.Mistake("check the path", "--output-schema: %v", err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxSchemaFile+1))
	if err != nil {
		return nil, usage.Mistake("check the file", "--output-schema: %v", err)
	}
	if len(raw) > maxSchemaFile {
		return nil, usage.Mistake("use a smaller schema", "--output-schema %s: longer than %d MiB", path, maxSchemaFile>>20)
	}
	check, err := tool.JSONSchema{}.Compile(raw)
	if err = cmp.Or(schema.Check(raw), err); err != nil {
		return nil, usage.Mistake("it must be a JSON Schema (draft 2020-12 or 7) without references to other files", "--output-schema %s: %v", path, err)
	}
	var compact bytes.Buffer
	_ = json.Compact(&compact, raw) // it is JSON: it was compiled
	return &Schema{schema: compact.Bytes(), check: check}, nil
}

// Demand tells the model what is asked of its last answer.
func (s *Schema) Demand(prompt string) string {
	if s == nil {
		return prompt
	}
	return prompt + "\n\n<output_schema>\n" + string(s.schema) + "\n</output_schema>\n" +
		"When the work is done, answer with one JSON value that is valid under this schema, and nothing else."
}

// Grammar is session.Config.Schema.
func (s *Schema) Grammar() json.RawMessage {
	if s == nil {
		return nil
	}
	return s.schema
}

// Judge is session.Config.Accept; without a schema every answer is accepted.
func (s *Schema) Judge() func(string, int) (string, error) {
	if s == nil {
		return nil
	}
	return s.accept
}

func (s *Schema) accept(text string, tries int) (correction string, err error) {
	_, wrong := s.value(text)
	switch {
	case wrong == "":
		return "", nil
	case tries < maxTries:
		return "The answer does not meet the schema: " + wrong + "\nAnswer with one JSON value that is valid under it, and nothing else.", nil
	}
	first, _, _ := strings.Cut(strings.TrimSpace(wrong), "\n")
	return "", &session.ProviderError{
		Kind:    session.RefusedAnswer,
		Message: fmt.Sprintf("the answer did not meet --output-schema in %d tries: %s", maxTries+1, strings.TrimPrefix(first, "- ")),
		Hint:    "ask for it more plainly, use a simpler schema, or try another model",
	}
}

// value takes the JSON value out of an answer and says what is wrong with it; nothing: it is valid.
func (s *Schema) value(text string) (raw json.RawMessage, wrong string) {
	body := strings.TrimSpace(text)
	if inner, fenced := laxjson.Unfence(body); fenced { // models add one whatever they are told
		body = inner
	}
	d := json.NewDecoder(strings.NewReader(body))
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, "it is not JSON: " + err.Error()
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, "there is something behind the JSON value"
	}
	faults := s.check(v)
	if len(faults) == 0 {
		return json.RawMessage(body), ""
	}
	var b strings.Builder
	for i, f := range faults {
		if i == maxFaults {
			fmt.Fprintf(&b, "\n- and %d more", len(faults)-i)
			break
		}
		b.WriteString("\n- " + strings.TrimSpace(f.Path+" "+f.Message))
	}
	return nil, b.String()
}

// Structured puts the value of an answer that was accepted into the result.
func (s *Schema) Structured(r session.Result) session.Result {
	if s == nil || r.Cause != session.CauseDone {
		return r
	}
	raw, _ := s.value(r.Text)
	r.Structured = raw
	return r
}
