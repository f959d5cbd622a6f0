package mcp

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp/wire"
	"adze/tool/schema"
)

// Bounds of one definition: what a model is shown of a tool, it is shown with each request.
const (
	maxDescription = 2 << 10
	maxArgument    = 1 << 10 // of the description of an argument
	maxSchema      = 32 << 10
	maxDepth       = 16
	// maxSteps bounds how much of a schema is looked at for one value: references may make a short
	// text enormous.
	maxSteps = 2000
)

// Tool is a tool of a server as adze shows it: cleaned, and with the pin of what the server said.
type Tool struct {
	Name        string          `json:"name"` // as the server calls it
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Hints       []string        `json:"hints,omitempty"` // what the server says of it; nothing is decided by them
	Pin         string          `json:"pin"`
	Bad         string          `json:"bad,omitempty"` // why it cannot be used; if empty, it can
}

// define cleans what a server says of a tool.
func define(t *sdk.Tool, instructions string) Tool {
	out := Tool{Name: t.Name, Title: Line(t.Title, 200), Description: Clean(t.Description, maxDescription), Pin: pin(t, instructions)}
	if a := t.Annotations; a != nil {
		out.Title, out.Hints = cmp.Or(out.Title, Line(a.Title, 200)), hints(a)
	}
	var err error
	if out.Parameters, err = parameters(t.InputSchema); err != nil {
		out.Bad, out.Parameters = Line(err.Error(), 300), json.RawMessage(`{"type":"object"}`)
	}
	if bad, ok := t.Meta[wire.Bad].(string); ok {
		out.Bad = Line(bad, 300)
	}
	return out
}

func hints(a *sdk.ToolAnnotations) (out []string) {
	for _, h := range []struct {
		said bool
		word string
	}{{a.ReadOnlyHint, "only reads"}, {a.DestructiveHint != nil && *a.DestructiveHint, "destroys"}, {a.IdempotentHint, "may be repeated"}, {a.OpenWorldHint != nil && *a.OpenWorldHint, "reaches out"}} {
		if h.said {
			out = append(out, h.word)
		}
	}
	return out
}

// pin is the hash of all that a server says of a tool, byte for byte, and of itself.
func pin(t *sdk.Tool, instructions string) string {
	raw, err := json.Marshal([]any{t.Name, t.Title, t.Description, t.InputSchema, t.OutputSchema, t.Annotations, instructions})
	if err != nil {
		return "" // it came as JSON
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// parameters is a tool's schema, cleaned: texts lose what cannot be seen, patterns that cannot be
// read are left to the server, and whatever could not be shown as it is makes the tool unusable.
func parameters(given any) (json.RawMessage, error) {
	object, ok := given.(map[string]any)
	if given == nil {
		object, ok = map[string]any{}, true
	}
	if !ok {
		return nil, errors.New("its schema is not an object")
	}
	id, _ := object["$id"].(string)
	c := cleaner{id: strings.TrimSuffix(id, "#")}
	object, _ = c.clean(object, 1, false).(map[string]any)
	if c.err != nil {
		return nil, c.err
	}
	switch kind := object["type"]; {
	case kind == nil:
		object["type"] = "object"
	case kind != "object":
		return nil, errors.New("its arguments are no object")
	}
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	if len(raw) > maxSchema {
		return nil, fmt.Errorf("its schema takes %d KiB, more than %d", len(raw)>>10, maxSchema>>10)
	}
	if err := (&walker{root: object, following: map[string]bool{}}).each(object); err != nil {
		return nil, err
	}
	return raw, schema.Check(raw)
}

// cleaner copies a schema without what it must not hold.
type cleaner struct {
	id  string // of the schema itself
	err error
}

func (c *cleaner) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// clean copies a value; names says that it is an object whose keys are names of arguments or
// definitions.
func (c *cleaner) clean(value any, depth int, names bool) any {
	if depth > 2*maxDepth { // a level of a schema is one of keywords and one of names
		c.fail("its schema is deeper than %d", maxDepth)
	}
	if c.err != nil {
		return nil
	}
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, child := range v {
			if Clean(key, len(key)) != key {
				c.fail("its schema has a name with characters that cannot be seen")
			}
			if keep, child := c.keyword(key, child, depth, names); keep {
				out[key] = child
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, child := range v {
			out[i] = c.clean(child, depth+1, false)
		}
		return out
	case string:
		if Clean(v, len(v)) != v {
			c.fail("its schema has a value with characters that cannot be seen")
		}
	}
	return value
}

// keyword copies what stands under a key.
func (c *cleaner) keyword(key string, value any, depth int, names bool) (bool, any) {
	text, isText := value.(string)
	if names {
		return true, c.clean(value, depth+1, false)
	}
	switch {
	case isText && (key == "description" || key == "title" || key == "$comment"):
		return key != "$comment", Clean(text, maxArgument)
	case isText && (key == "$ref" || key == "$dynamicRef") && !strings.HasPrefix(text, "#"):
		if to, fragment, _ := strings.Cut(text, "#"); c.id != "" && to == c.id {
			return true, "#" + fragment
		}
		c.fail("its schema refers to another place (%s)", Line(text, 100))
	case key == "$id", key == "examples", key == "contentMediaType":
		return false, nil
	case isText && key == "pattern":
		if _, err := regexp.Compile(text); err != nil { // it is for another engine, and the server holds to it
			return false, nil
		}
	case key == "properties", key == "patternProperties", key == "$defs", key == "definitions", key == "dependentSchemas":
		return true, c.clean(value, depth+1, true)
	}
	return true, c.clean(value, depth+1, false)
}
