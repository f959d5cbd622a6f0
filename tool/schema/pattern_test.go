package schema

import (
	"encoding/json"
	"testing"
)

// V8 (node 20.20.2, RegExp.test with the flag u, as ajv reads patterns) says of each text what
// stands here.
func TestPatternsOfJavaScript(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{`^(?!\.)(?!.*\.\.)[a-z.]+@x$`, "a.b@x", true}, {`^(?!\.)(?!.*\.\.)[a-z.]+@x$`, "a..b@x", false}, {`^(?!\.)[a-z.]+$`, ".a", false},
		{`^(?=.*[A-Z])(?=.*\d).{3,}$`, "aB1", true}, {`^(?=.*[A-Z])(?=.*\d).{3,}$`, "ab1", false},
		{`^\u0041+$`, "AA", true}, {`^\u0041+$`, "B", false}, {`^\u{41}$`, "A", true}, {`^\\u0041$`, `\u0041`, true},
		{`^[^]$`, "\n", true}, {`^[^]$`, "", false}, {`^(?!a)b|c`, "c", true}, {`(a)\1`, "aa", true},
	} {
		raw, err := json.Marshal(map[string]any{"properties": map[string]any{"x": map[string]any{"pattern": c.pattern}}})
		if err != nil {
			t.Fatal(err)
		}
		check, err := Compile(raw)
		if err != nil || Check(raw) != nil {
			t.Errorf("%s: %v, %v", c.pattern, err, Check(raw))
			continue
		}
		if got := check(map[string]any{"x": c.text}); (len(got) == 0) != c.want {
			t.Errorf("%s on %q: %v, want %v", c.pattern, c.text, got, c.want)
		}
	}
	if _, err := Compile(json.RawMessage(`{"pattern":"(a"}`)); err == nil {
		t.Error("a group without an end was taken")
	}
}

// TestNamesOfPatternProperties: ajv 8 reads the patterns with the flag u. It also refuses 7 for the
// name ab, which is not checked here.
func TestNamesOfPatternProperties(t *testing.T) {
	raw := json.RawMessage(`{"patternProperties":{"^(?!x-)[a-z]+$":{"type":"string"},"^\\u0041$":{"type":"string"},"^A$":{"minLength":2},"(.)\\1-":{"type":"null"}},"additionalProperties":false}`)
	check, err := Compile(raw)
	if err != nil || Check(raw) != nil {
		t.Fatal(err, Check(raw))
	}
	for name, want := range map[string]bool{`{"ab":"s"}`: true, `{"ab":7}`: true, `{"A":"ab"}`: true, `{"A":"a"}`: false, `{"A":7}`: false, `{"aa-":null}`: true} {
		var v any
		if got := json.Unmarshal([]byte(name), &v); got != nil || (len(check(v)) == 0) != want {
			t.Errorf("%s: %v", name, check(v))
		}
	}
}

// JSON.stringify (node 20.20.2) writes the numbers so.
func TestNumbersAreShownAsTheyAreWritten(t *testing.T) {
	check, err := Compile(json.RawMessage(`{"maximum":9007199254740991,"multipleOf":0.5}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := check(9007199254740992.0); len(got) != 1 || got[0].Message != "must be at most 9007199254740991" {
		t.Errorf("%v", got)
	}
}
