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
