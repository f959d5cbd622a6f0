package stream

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"adze/session"
	"adze/tool"
)

// samples is a line of each type.
func samples() []any {
	return []any{
		initLine{Type: "init"},
		lineOf(session.TextDelta{}),
		lineOf(session.ReasoningDelta{}),
		lineOf(session.MessageDone{Message: session.Message{Role: session.Assistant}}),
		lineOf(session.MessageDone{Message: session.Message{Role: session.User, Note: true, Notes: []session.Note{{}}}}),
		lineOf(session.ToolStart{}),
		lineOf(session.ToolUpdate{}),
		lineOf(session.ToolEnd{Outcome: tool.Outcome{}}),
		lineOf(session.ToolAsk{Event: tool.Event{Decision: &tool.Decision{}}}),
		lineOf(session.Requested{}),
		lineOf(session.Retry{}),
		lineOf(session.Compacted{}),
		lineOf(session.Claimed{}),
		lineOf(session.Planned{}),
		lineOf(session.Counted{Message: "m"}),
		lineOf(session.Notice{}),
		lineOf(session.Unsaved{}),
		lineOf(session.PrefixChanged{}),
		modeLine{Type: "mode"},
		modelLine{Type: "model"},
		Question{Type: "question"},
		turnLine{resultLine{Type: "turn"}, ""},
		unreadLine{Type: "unread"},
		resultLine{Type: "result"},
	}
}

// TestTheDocumentsTellEveryLine compares its table with what is written: each type, and each field
// in its order.
func TestTheDocumentsTellEveryLine(t *testing.T) {
	told := map[string]string{}
	raw, err := os.ReadFile("../../docs/scripts.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(raw), "| type | fields |\n|---|---|\n")
	if !found {
		t.Fatal("docs/scripts.md has no table of lines")
	}
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		if len(cells) < 4 {
			break
		}
		fields := strings.Join(strings.Fields(strings.ReplaceAll(cells[2], "`", "")), " ")
		for _, name := range strings.Fields(strings.NewReplacer("`", "", ",", "").Replace(cells[1])) {
			told[name] = fields
		}
	}
	written := map[string]string{}
	for _, line := range samples() {
		var head struct{ Type string }
		if err := json.Unmarshal([]byte(Line(line)), &head); err != nil {
			t.Fatal(err)
		}
		written[head.Type] = strings.Join(fieldsOf(reflect.TypeOf(line)), " ")
	}
	for name, fields := range written {
		if told[name] != fields {
			t.Errorf("%s is written with\n  %s\ndocs/scripts.md tells\n  %s", name, fields, told[name])
		}
	}
	for name := range told {
		if _, ok := written[name]; !ok {
			t.Errorf("docs/scripts.md tells of %s, which is never written", name)
		}
	}
}

// TestEveryShapeHasASample finds the shapes of lines where they are, so that a new one must be told
// of too.
func TestEveryShapeHasASample(t *testing.T) {
	shapes := map[string]bool{}
	for _, name := range []string{"line.go", "request.go", "talk.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if s, ok := spec.Type.(*ast.StructType); ok && len(s.Fields.List) > 0 && s.Fields.List[0].Tag != nil &&
					strings.HasPrefix(s.Fields.List[0].Tag.Value, "`json:\"type\"") {
					shapes[spec.Name.Name] = true
				}
			}
			return true
		})
	}
	for _, line := range samples() {
		delete(shapes, reflect.TypeOf(line).Name())
	}
	if len(shapes) > 0 {
		t.Errorf("no sample of %v", slices.Sorted(maps.Keys(shapes)))
	}
}

// fieldsOf are the names of a line's fields but its type; one that may be missing ends with "?".
func fieldsOf(kind reflect.Type) (names []string) {
	for i := range kind.NumField() {
		f := kind.Field(i)
		if f.Anonymous {
			names = append(names, fieldsOf(f.Type)...)
			continue
		}
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		if option == "omitempty" {
			name += "?"
		}
		if name != "type" {
			names = append(names, name)
		}
	}
	return names
}
