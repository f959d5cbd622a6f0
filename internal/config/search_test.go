package config

import (
	"strings"
	"testing"
)

func TestSearchEnginesThatThereAreNot(t *testing.T) {
	for text, want := range map[string]string{
		`{"search": {"engine": "brave"}}`: "", `{"search": {"engine": "searxng", "base_url": "http://localhost:8080"}}`: "", `{}`: "",
		`{"search": {"engine": "google"}}`: `"google"`, `{"search": {"key_env": "X"}}`: "engine is missing", `{"search": {"index": false}}`: "", `{"search": {"index": false, "key_env": "X"}}`: "engine is missing", `{"search": {"engine": "searxng"}}`: "base_url is missing",
	} {
		_, err := Parse("config.json", []byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestTheIndexIsOnUnlessItIsTurnedOff(t *testing.T) {
	for text, want := range map[string]bool{`{}`: true, `{"search": {"index": true}}`: true, `{"search": {"index": false}}`: false, `{"search": {"engine": "brave"}}`: true} {
		c, err := Parse("config.json", []byte(text))
		if err != nil || c.Search.Indexed() != want {
			t.Errorf("%s: %v %v", text, c.Search.Indexed(), err)
		}
	}
}
