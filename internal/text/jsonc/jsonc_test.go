package jsonc

import (
	"encoding/json"
	"errors"
	"testing"
)

type inner struct {
	Lines int `json:"lines"`
}

type file struct {
	Deny   []string          `json:"deny"`
	Output inner             `json:"output"`
	Models map[string]*inner `json:"models"`
	List   []inner           `json:"list"`
	Raw    json.RawMessage   `json:"raw"`
	Task   string            `json:"task"`
	Plain  string
}

func TestNoNameStandsTwice(t *testing.T) {
	for text, want := range map[string]string{
		`{"deny": ["a"], "deny": []}`:                                        "line 1: deny stands in line 1 already",
		"{\"deny\": [\"a\"],\n// and\n\"Deny\": []}":                         `line 3: Deny is "deny" of line 1 again`,
		`{"deny": ["a"], "d\u0065ny": []}`:                                   "line 1: deny stands in line 1 already",
		`{"ta\u017fk": "", "TASK": ""}`:                                      "line 1: TASK is \"ta\u017fk\" of line 1 again",
		`{"output": {"lines": 1, "LINES": 2}}`:                               `line 1: output.LINES is "lines" of line 1 again`,
		`{"OUTPUT": {"lines": 1, "LINES": 2}}`:                               `line 1: OUTPUT.LINES is "lines" of line 1 again`,
		`{"models": {"a/b": {"lines": 1, "Lines": 2}}}`:                      `line 1: models.a/b.Lines is "lines" of line 1 again`,
		`{"models": {"a": {}, "a": {}}}`:                                     "line 1: models.a stands in line 1 already",
		`{"list": [{"lines": 1}, {"lines": 1, "lines": 2}]}`:                 "line 1: list.lines stands in line 1 already",
		`{"raw": {"properties": {"a": {}, "a": {}}}}`:                        "line 1: raw.properties.a stands in line 1 already",
		`{"plain": "", "Plain": ""}`:                                         `line 1: Plain is "plain" of line 1 again`,
		`{"models": {"a": {}, "A": {}}, "raw": {"x": 1, "X": 2}}`:            "",
		`{"list": [{"lines": 1}, {"lines": 1}], "output": {"lines": 1},}`:    "",
		`{/* said once */ "deny": ["deny", "deny"], "models": {"deny": {}}}`: "",
	} {
		_, err := Decode([]byte(text), &file{})
		var twice *DuplicateError
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (!errors.As(err, &twice) || err.Error() != want):
			t.Errorf("%s:\n got %v\nwant %s", text, err, want)
		}
	}
}

// TestFoldsAsTheDecoderDoes asks encoding/json which names it takes for a field.
func TestFoldsAsTheDecoderDoes(t *testing.T) {
	for _, name := range []string{"task", "TASK", "ta\u017fk", "tas\u212a", "tаsk", "tasK ", "ta\u1e9ek"} {
		raw, _ := json.Marshal(map[string]string{name: "x"})
		var f file
		if err := json.Unmarshal(raw, &f); err != nil {
			t.Fatal(err)
		}
		if taken, same := f.Task != "", folded(name) == folded("task"); taken != same {
			t.Errorf("%q: the decoder takes it: %v; folded to the same: %v", name, taken, same)
		}
	}
}

func TestDecodeLeavesTheTextAsItIs(t *testing.T) {
	raw := []byte("{// why\n\"deny\": [\"a\",],}")
	before := string(raw)
	var f file
	standard, err := Decode(raw, &f)
	if err != nil || !json.Valid(standard) || string(raw) != before || len(f.Deny) != 1 {
		t.Errorf("%v, %s, %s, %v", err, standard, raw, f.Deny)
	}
	var syntax *SyntaxError
	if _, err := Decode([]byte(`{"deny": }`), &f); !errors.As(err, &syntax) {
		t.Errorf("broken text: %v", err)
	}
}

// jsonc-parser 3.3.1 takes a comment that the end of the file ends, and strip-json-comments 5.1.0
// with JSON.parse does too.
func TestACommentMayEndWithTheFile(t *testing.T) {
	for _, text := range []string{`{"task": "x"} // why`, "{\"task\": \"x\"}\n// why", "{\"task\": \"x\"}\r\n// why\r", `{"task": "x"} /* why */`, "{\"task\": \"x\"}\n"} {
		var f file
		if standard, err := Decode([]byte(text), &f); err != nil || f.Task != "x" || !json.Valid(standard) {
			t.Errorf("%q: %v, %s", text, err, standard)
		}
	}
}
