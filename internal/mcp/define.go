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

// Limits of one definition. The model gets it with each request.
const (
	maxDescription = 2 << 10
	maxArgument    = 1 << 10 // an argument's description
	maxSchema      = 32 << 10
	maxDepth       = 16
	// maxSteps limits the schemas visited for one value: references can make a short text enormous.
	maxSteps = 2000
)

// A Tool is a server's tool, cleaned, with the pin of its original definition.
type Tool struct {
	Name        string          `json:"name"` // the server's name for it
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Hints       []string        `json:"hints,omitempty"` // the server's annotations; nothing is decided by them
	Pin         string          `json:"pin"`
	Bad         string          `json:"bad,omitempty"` // why it cannot be used, or ""
}

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

// pin hashes, byte for byte, a server's definition of a tool and its instructions.
func pin(t *sdk.Tool, instructions string) string {
	raw, err := json.Marshal([]any{t.Name, t.Title, t.Description, t.InputSchema, t.OutputSchema, t.Annotations, instructions})
	if err != nil {
		return "" // decoded from JSON
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// parameters returns a tool's cleaned schema: without invisible characters, and without patterns
// that Go cannot compile, which the server checks itself. Anything else that cannot be shown as it
// is makes the tool unusable.
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

// cleaner copies a schema without its forbidden parts.
type cleaner struct {
	id  string // the schema's own
	err error
}

func (c *cleaner) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// clean copies a value. If names is set, the keys of the object are argument or definition names.
func (c *cleaner) clean(value any, depth int, names bool) any {
	if depth > 2*maxDepth { // a schema level has one of keywords and one of names
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
		if _, err := regexp.Compile(text); err != nil { // written for another engine; the server enforces it
			return false, nil
		}
	case key == "properties", key == "patternProperties", key == "$defs", key == "definitions", key == "dependentSchemas":
		return true, c.clean(value, depth+1, true)
	}
	return true, c.clean(value, depth+1, false)
}
