package tool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"adze/tool"
)

type editArgs struct {
	Path       string `json:"path" doc:"file to change"`
	OldString  string `json:"old_string,omitempty" doc:"text to replace"`
	NewString  string `json:"new_string,omitempty" doc:"text to put there"`
	ReplaceAll bool   `json:"replace_all,omitempty"`
	Edits      []struct {
		OldString string `json:"old_string"`
		NewString string `json:"new_string"`
	} `json:"edits,omitempty"`
}

const editCall = `{"path":"internal/run/main.go","edits":[{"old_string":"func main() {","new_string":"func main() {\n\tlog.SetFlags(0)"},{"old_string":"a","new_string":"b"}]}`

// BenchmarkValidate is the validation of a typical call; the bar is 20 µs.
func BenchmarkValidate(b *testing.B) {
	schema, err := tool.SchemaOf[editArgs]()
	if err != nil {
		b.Fatal(err)
	}
	check, err := tool.JSONSchema{}.Compile(schema)
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string]string{"valid": editCall, "invalid": strings.Replace(editCall, "path", "file", 1)} {
		value := decoded(b, text)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				check(value)
			}
		})
	}
}

func BenchmarkHydrate(b *testing.B) {
	var got editArgs
	set := setOf(b, numeric(&got))
	big, err := json.Marshal(map[string]string{"path": "a", "new_string": strings.Repeat("line of code\n", 1<<16)})
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string]string{"typical": editCall, "850KB": string(big), "invalid": strings.Replace(editCall, "path", "file", 1)} {
		calls := []tool.RawCall{{ID: "1", Name: "numbers", Arguments: text}}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			r := allowing()
			for b.Loop() {
				r.Hydrate(b.Context(), set, calls)
			}
		})
	}
}

// BenchmarkPipeline is everything around a Run that does nothing: hydrate, permission, goroutine,
// record.
func BenchmarkPipeline(b *testing.B) {
	var got editArgs
	set := setOf(b, numeric(&got))
	calls := []tool.RawCall{{ID: "1", Name: "numbers", Arguments: editCall}}
	r := allowing()
	b.ReportAllocs()
	for b.Loop() {
		if o := r.Exec(b.Context(), r.Hydrate(b.Context(), set, calls)[0]); o.Status != tool.Completed {
			b.Fatal(o.Output)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	schema, err := tool.SchemaOf[editArgs]()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := (tool.JSONSchema{}).Compile(schema); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRepair is the hydration of calls that need a repair, small and large.
func BenchmarkRepair(b *testing.B) {
	set := corpusSet(b)
	lines := strings.Repeat("line of 'code'\n", 1<<16)
	for name, text := range map[string]string{
		"typical":       "```json\n{'path': 'a.go', 'edits': [{'oldString': 'a', 'newString': 'b'},]}\n```",
		"1MB":           `{"path":"a.go","oldString":"a","newString":"` + lines + `"}`,
		"1MB of braces": strings.Repeat(`{"path":`, 1<<17),
		"1MB of names":  `{` + strings.Repeat(`"":"",`, 1<<17) + `}`,
	} {
		calls := []tool.RawCall{{ID: "1", Name: "edit", Arguments: text}}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			r := allowing()
			for b.Loop() {
				r.Hydrate(b.Context(), set, calls)
			}
		})
	}
}
