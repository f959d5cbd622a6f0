package acp

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestTheBeginningOfAnObjectIsOne: whatever is cut off, what is read of it are the same members,
// the last one as far as it has come.
func TestTheBeginningOfAnObjectIsOne(t *testing.T) {
	whole := `{"command": "echo \"a\\nb\" \u00fc", "list": [1, {"x": true}, "y"], "n": -1.5, "description": "say"}`
	var all struct{ Command string }
	if err := json.Unmarshal([]byte(whole), &all); err != nil {
		t.Fatal(err)
	}
	for at := range len(whole) {
		got := closed(whole[:at])
		if got == nil {
			continue
		}
		var object map[string]any
		if err := json.Unmarshal(got, &object); err != nil {
			t.Fatalf("%s became %s: %v", whole[:at], got, err)
		}
		if s, is := object["command"].(string); is && !strings.HasPrefix(all.Command, s) {
			t.Errorf("%s became %s", whole[:at], got)
		}
	}
	for text, want := range map[string]string{
		``: "", `{`: "", `{"comm`: "", `{"command":`: "", `[1`: "", `"a`: "",
		`{"command":"ec`:         `{"command":"ec"}`,
		`{"command":"a\`:         `{"command":"a"}`,
		`{"command":"a\u00`:      `{"command":"a"}`,
		`{"command":"a","des`:    `{"command":"a"}`,
		`{"a":[1,{"b":"c`:        `{"a":[1,{"b":"c"}]}`,
		`{"command":"a","n":tru`: `{"command":"a"}`,
		whole:                    whole,
	} {
		if got := string(closed(text)); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}
