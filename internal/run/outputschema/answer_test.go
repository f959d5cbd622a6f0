package outputschema

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAnAnswerInAFenceIsItsInside: models add the fence whatever they are told.
func TestAnAnswerInAFenceIsItsInside(t *testing.T) {
	file := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(file, []byte(`{"type":"object"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{"a":1}`: `{"a":1}`, "```json\n{\"a\":1}\n```": `{"a":1}`, "```{\"a\":1}```": `{"a":1}`, "```json\n{\"a\":\"x ``` y\"}\n```": "{\"a\":\"x ``` y\"}",
		"```json\n{\"a\":1}": "", "```json\n{\"a\":1}\n```\nDone.": "", "```json\n{\"a\":1}\n```\n```json\n{\"a\":2}\n```": "", "{'a':1}": "", "```json\n[1]\n```": "",
	} {
		if got, wrong := s.value(text); string(got) != want || (wrong == "") != (want != "") {
			t.Errorf("%q: %q, %q", text, got, wrong)
		}
	}
}
