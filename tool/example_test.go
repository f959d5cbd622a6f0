package tool_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"adze/tool"
)

type countArgs struct {
	Text string `json:"text" doc:"the text whose words are counted"`
	Min  int    `json:"min,omitempty" doc:"shortest word that counts, in bytes" min:"1"`
}

type countMeta struct {
	Words int `json:"words"`
}

// wordCount is a whole tool: arguments that document themselves, what may be logged, and one function.
func wordCount() tool.Tool {
	return tool.Define("word_count", tool.Config[countArgs, countMeta]{
		Description: "Count the words of a text.",
		Permissions: tool.Requires(tool.Read),
		Redact:      tool.Expose("min"),
		Run: func(ctx context.Context, c tool.Context[countMeta], in countArgs) (tool.Result[countMeta], error) {
			n := 0
			for word := range strings.FieldsSeq(in.Text) {
				if len(word) >= in.Min {
					n++
				}
			}
			if n == 0 {
				return tool.Result[countMeta]{}, errors.New("the text has no such word; give a longer text or a smaller min")
			}
			return tool.Result[countMeta]{Output: fmt.Sprint(n, " words"), Metadata: countMeta{n}}, nil
		},
		View: func(m countMeta) []tool.Block { return tool.Text(fmt.Sprint("counted ", m.Words)) },
	})
}

// A tool is declared, registered, and run by the pipeline: never by hand.
func ExampleDefine() {
	var registry tool.Registry
	if err := registry.Register(wordCount()); err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	set, err := registry.Tools(ctx, tool.Init{})
	if err != nil {
		fmt.Println(err)
		return
	}
	runner := tool.Runner{Gate: tool.GateFunc(func(context.Context, tool.Question) (tool.Decision, error) {
		return tool.Decision{Allow: true}, nil
	})}

	// What a model wrote: one good call, one that does not fit the schema, one that fails.
	calls := []tool.RawCall{
		{ID: "1", Name: "word_count", Arguments: `{"text": "to be or not to be", "min": 2}`},
		{ID: "2", Name: "word_count", Arguments: `{"txt": "to be"}`},
		{ID: "3", Name: "word_count", Arguments: `{"text": ""}`},
	}
	for _, h := range runner.Hydrate(ctx, set, calls) {
		o := runner.Exec(ctx, h)
		fmt.Printf("%s: %s\n", o.Status, o.Output)
		fmt.Printf("  logged: %s, drawn: %v\n", o.Record.Args, set.Blocks(o.Tool, o.Metadata))
	}
	// Output:
	// completed: 6 words
	//   logged: {"min":2}, drawn: [{text  counted 6  0 []}]
	// invalid: word_count was not run: /text is required and missing; /txt is not a known property; did you mean "text"? Call it again with arguments that match its schema.
	//   logged: {}, drawn: []
	// failed: the text has no such word; give a longer text or a smaller min
	//   logged: {}, drawn: []
}

// DefineFunc declares a tool that learns what it is when a Set is made: here its schema comes from a server.
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
	// weather was not run: /city must be one of ["Bern","Oslo"]. Call it again with arguments that match its schema.
}
