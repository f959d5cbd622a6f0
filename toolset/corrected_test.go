package toolset

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"adze/tool"
)

// An error of arguments shows an example, and the example is taken, for every tool and whatever was
// wrong.
func TestTheExampleInAnErrorOfArgumentsIsTaken(t *testing.T) {
	b := newBoundedBench(t, t.TempDir(), Bounds{})
	refused, r := 0, rand.New(rand.NewPCG(3, 4))
	for _, d := range b.set.Definitions() {
		var s struct {
			Properties map[string]json.RawMessage
			Required   []string
		}
		if err := json.Unmarshal(d.Parameters, &s); err != nil {
			t.Fatal(err)
		}
		names := slices.Sorted(maps.Keys(s.Properties))
		for n := range 150 {
			arguments := wrong(r, names, s.Required, n)
			h := b.runner.Hydrate(t.Context(), b.set, []tool.RawCall{{ID: "c", Name: d.Name, Arguments: arguments}})[0]
			if h.OK {
				continue
			}
			refused++
			o := b.runner.Exec(t.Context(), h)
			_, example, shown := strings.Cut(o.Output, " Call it again like this")
			example = example[max(0, strings.IndexByte(example, '{')):]
			if !shown {
				t.Errorf("%s %s: no example in %q", d.Name, arguments, o.Output)
				continue
			}
			again := b.runner.Hydrate(t.Context(), b.set, []tool.RawCall{{ID: "d", Name: d.Name, Arguments: example}})[0]
			if !again.OK || again.Provenance.Repair != nil || again.Provenance.Dialect != nil {
				t.Errorf("%s %s: the example %s is not taken as it stands: %+v", d.Name, arguments, example, again.Errors)
			}
		}
	}
	if refused < 300 {
		t.Errorf("only %d calls were refused: the generator makes too few mistakes", refused)
	}
}

// wrong makes arguments as models get them wrong.
func wrong(r *rand.Rand, names, required []string, n int) string {
	values := []any{nil, 7, -3, 1.5, true, "text", "", "7", []any{}, []any{1, "a"}, map[string]any{}, map[string]any{"content": 3, "x": 1}, []any{map[string]any{"status": "finished"}}, strings.Repeat("long ", 300), "<>&\u2028"}
	out := map[string]any{}
	for _, name := range names {
		if slices.Contains(required, name) && r.IntN(3) > 0 || r.IntN(3) == 0 {
			out[name] = values[r.IntN(len(values))]
		}
	}
	if r.IntN(2) == 0 {
		out[[]string{"file", "unknown", "comand", "Pattern", "patth", "x-y", "a/b~c"}[r.IntN(7)]] = values[r.IntN(len(values))]
	}
	raw, err := json.Marshal(out)
	if err != nil {
		panic(err) // these values encode
	}
	text := string(raw)
	switch n % 10 {
	case 7:
		return text[:len(text)-1-r.IntN(len(text)-1)]
	case 8:
		return fmt.Sprintf("[%s]", text)
	case 9:
		return strings.ReplaceAll(text, `"`, "'") + "}"
	}
	return text
}
