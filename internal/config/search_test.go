package config

import (
	"strings"
	"testing"
)

func TestSearchEnginesThatThereAreNot(t *testing.T) {
	for text, want := range map[string]string{
		`{"search": {"engine": "brave"}}`: "", `{"search": {"engine": "searxng", "base_url": "http://localhost:8080"}}`: "", `{}`: "",
		`{"search": {"engine": "google"}}`: `"google"`, `{"search": {"key_env": "X"}}`: "engine is missing", `{"search": {"engine": "searxng"}}`: "base_url is missing",
	} {
		_, err := Parse("config.json", []byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestTheIndexThatWentIsTold(t *testing.T) {
	c, err := Parse("config.json", []byte(`{"search": {"index": false}}`))
	if err != nil || len(c.Retired()) != 1 || !strings.Contains(c.Retired()[0], "search.index is gone: there is no index any more") {
		t.Errorf("%q %v", c.Retired(), err)
	}
}

func TestTheScorersThatWentAreTold(t *testing.T) {
	for _, name := range []string{"scorer", "embeddings", "model"} {
		c, err := Parse("config.json", []byte(`{"tools": {"`+name+`": "x"}}`))
		if err != nil || !strings.Contains(strings.Join(c.Retired(), " "), "tools."+name+" is gone: words of the prompt") {
			t.Errorf("%q %v", c.Retired(), err)
		}
	}
}
