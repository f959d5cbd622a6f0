package tool_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing/fstest"

	"adze/tool"
)

type countArgs struct {
	Path string `json:"path" doc:"the file whose words are counted"`
	Min  int    `json:"min,omitempty" doc:"shortest word that counts, in bytes" min:"1"`
}

type countMeta struct {
	Words int `json:"words"`
}

// wordCount is a whole tool: arguments that document themselves, what may be logged, what a call
// will touch, and one function. A permission that Needs leaves out is asked for as if the call
// might touch anything.
func wordCount(files fs.FS) tool.Tool {
	return tool.Define("word_count", tool.Config[countArgs, countMeta]{
		Description: "Count the words of a text.",
		Permissions: tool.Requires(tool.Read),
		Redact:      tool.Expose("path", "min"),
		Needs: func(in countArgs) []tool.Need {
			return []tool.Need{{Permission: tool.Read, Target: in.Path}}
		},
		Run: func(ctx context.Context, c tool.Context[countMeta], in countArgs) (tool.Result[countMeta], error) {
			text, err := fs.ReadFile(files, in.Path)
			if err != nil {
				return tool.Result[countMeta]{}, fmt.Errorf("%s cannot be read; name another file", in.Path)
			}
			n := 0
			for word := range strings.FieldsSeq(string(text)) {
				if len(word) >= in.Min {
					n++
				}
			}
			if n == 0 {
				return tool.Result[countMeta]{}, errors.New("the file has no such word; give another file or a smaller min")
			}
			return tool.Result[countMeta]{Output: fmt.Sprint(n, " words"), Metadata: countMeta{n}}, nil
		},
		View: func(m countMeta) []tool.Block { return tool.Text(fmt.Sprint("counted ", m.Words)) },
	})
}

// A tool is declared, registered, and run by the pipeline: never by hand.
func ExampleDefine() {
	var registry tool.Registry
	if err := registry.Register(wordCount(fstest.MapFS{"hamlet.txt": {Data: []byte("to be or not to be")}, "key.pem": {}})); err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	set, err := registry.Tools(ctx, tool.Init{})
	if err != nil {
		fmt.Println(err)
		return
	}
	// The gate sees what each call will touch, before it runs.
	runner := tool.Runner{Gate: tool.GateFunc(func(_ context.Context, q tool.Question) (tool.Decision, error) {
		return tool.Decision{Allow: q.Needs[0].Target != "key.pem", Reason: "keys are not read"}, nil
	})}

	// What a model wrote: one good call, one that does not fit the schema, one that the gate
	// refuses, one that fails.
	calls := []tool.RawCall{
		{ID: "1", Name: "word_count", Arguments: `{"path": "hamlet.txt", "min": 2}`},
		{ID: "2", Name: "word_count", Arguments: `{"pth": "hamlet.txt"}`},
		{ID: "3", Name: "word_count", Arguments: `{"path": "key.pem"}`},
		{ID: "4", Name: "word_count", Arguments: `{"path": "hamlet.txt", "min": 9}`},
	}
	for _, h := range runner.Hydrate(ctx, set, calls) {
		o := runner.Exec(ctx, h)
		fmt.Printf("%s: %s\n", o.Status, o.Output)
		fmt.Printf("  logged: %s, drawn: %v\n", o.Record.Args, set.Blocks(o.Tool, o.Metadata))
	}
	// Output:
	// completed: 6 words
	//   logged: {"min":2,"path":"hamlet.txt"}, drawn: [{text  counted 6  0 [] 0 false}]
	// invalid: word_count was not run: /path is required and missing; /pth is not a known property (did you mean "path"?); known: min, path. Call it again with min (integer), path (required string).
	//   logged: {}, drawn: []
	// denied: denied: keys are not read. Do not attempt it another way; go on without it or ask the person.
	//   logged: {"path":"key.pem"}, drawn: []
	// failed: the file has no such word; give another file or a smaller min
	//   logged: {"min":9,"path":"hamlet.txt"}, drawn: []
}

// DefineFunc declares a tool that learns what it is when a Set is made: here its schema comes from
// a server.
func ExampleDefineFunc() {
	weather := tool.DefineFunc("weather", func(ctx context.Context, in tool.Init) (tool.Config[map[string]any, struct{}], error) {
		schema := []byte(`{"type":"object","properties":{"city":{"enum":["Bern","Oslo"]}},"required":["city"]}`)
		return tool.Config[map[string]any, struct{}]{
			Description: "Tell the weather, for ${agent}.",
			Parameters:  schema,
			Permissions: tool.Requires(tool.Network),
			Redact:      tool.Expose("city"),
			Needs: func(args map[string]any) []tool.Need {
				return []tool.Need{{Permission: tool.Network, Target: "https://weather.example/" + args["city"].(string)}}
			},
			Run: func(ctx context.Context, c tool.Context[struct{}], args map[string]any) (tool.Result[struct{}], error) {
				return tool.Result[struct{}]{Output: fmt.Sprintf("%s: rain", args["city"])}, nil
			},
		}, nil
	})

	var registry tool.Registry
	if err := registry.Register(weather); err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	set, err := registry.Tools(ctx, tool.Init{Vars: map[string]string{"agent": "coder"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	runner := tool.Runner{Gate: tool.GateFunc(func(_ context.Context, q tool.Question) (tool.Decision, error) {
		fmt.Println("asked:", q.Needs[0].Permission, q.Needs[0].Target)
		return tool.Decision{Allow: true}, nil
	})}
	d, _ := set.Get("weather")
	fmt.Println(d.Description)
	for _, h := range runner.Hydrate(ctx, set, []tool.RawCall{
		{ID: "1", Name: "weather", Arguments: `{"city":"Oslo"}`},
		{ID: "2", Name: "weather", Arguments: `{"city":"Rome"}`},
	}) {
		fmt.Println(runner.Exec(ctx, h).Output)
	}
	// Output:
	// Tell the weather, for coder.
	// asked: network https://weather.example/Oslo
	// Oslo: rain
	// weather was not run: /city must be one of ["Bern","Oslo"]. Call it again with city (required).
}
