package transcript

import (
	"slices"
	"testing"
)

func TestCodeBlocks(t *testing.T) {
	for text, want := range map[string][]codeBlock{
		"no code": nil, "```go\na\n```\n~~~\nb\n```\nc\n~~~\n": {{"go", "a"}, {"", "b\n```\nc"}},
		"```\nunfinished": nil, "  ```sh\n  x\n  ```": {{"sh", "  x"}},
	} {
		if got := codeBlocks(text); !slices.Equal(got, want) {
			t.Errorf("%q holds %q, want %q", text, got, want)
		}
	}
}
