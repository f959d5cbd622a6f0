package catalog

import (
	"strings"
	"testing"
)

func TestParseNamesTheLineOfAMistake(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"too few fields":    {"@ https://x 2026-01-01\nopenai/m 1 2 3\n", "line 2"},
		"a price of words":  {"openai/m 1 1 cheap 1 1 1 tools\n", `"cheap" is no price`},
		"a negative price":  {"openai/m 1 1 -1 1 1 1 tools\n", `"-1" is no price`},
		"an endless price":  {"openai/m 1 1 Inf 1 1 1 tools\n", `"Inf" is no price`},
		"no number":         {"openai/m many 1 1 1 1 1 tools\n", "no number of tokens"},
		"an ability":        {"openai/m 1 1 1 1 1 1 flying\n", `no ability "flying"`},
		"a tier of nothing": {"> 100 1 1 1 1\n", "line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parse(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("err = %v, want %q", err, c.want)
			}
		})
	}
}
