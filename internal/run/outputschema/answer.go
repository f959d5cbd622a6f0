// Package outputschema checks a run's last answer against a JSON Schema: it adds the request to the
// prompt, validates the answer, and extracts the value.
//
// The one rule: a value is used as written and never repaired.
//
// Start reading at Read. A nil *Schema requests nothing, and its methods handle that.
//
// Known limits: besides a plain value, only a single fenced block is accepted; other answers are
// sent back.
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

// Limits for --output-schema: file size, retries, and reported faults.
const (
	maxSchemaFile = 1 << 20
	maxTries      = 2
	maxFaults     = 10
)

// Schema is the required format for the final answer: one valid JSON value.
type Schema struct {
	schema json.RawMessage
	check  tool.Check
}

// Read reads the file from --output-schema; an empty path returns nil.
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
	_ = json.Compact(&compact, raw) // it compiled, so it is valid JSON
	return &Schema{schema: compact.Bytes(), check: check}, nil
}

// Demand adds the schema to the prompt.
func (s *Schema) Demand(prompt string) string {
	if s == nil {
		return prompt
	}
	return prompt + "\n\n<output_schema>\n" + string(s.schema) + "\n</output_schema>\n" +
		"When the work is done, answer with one JSON value that is valid under this schema, and nothing else."
}

// Grammar returns the schema for session.Config.Schema.
func (s *Schema) Grammar() json.RawMessage {
	if s == nil {
		return nil
	}
	return s.schema
}

// Judge returns session.Config.Accept; without a schema it is nil and accepts every answer.
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

// value extracts an answer's JSON value; wrong describes faults and is "" for a valid one.
func (s *Schema) value(text string) (raw json.RawMessage, wrong string) {
	body := strings.TrimSpace(text)
	if inner, fenced := laxjson.Unfence(body); fenced { // models add a fence regardless of instructions
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

// Structured adds the accepted value to the result.
func (s *Schema) Structured(r session.Result) session.Result {
	if s == nil || r.Cause != session.CauseDone {
		return r
	}
	raw, _ := s.value(r.Text)
	r.Structured = raw
	return r
}
