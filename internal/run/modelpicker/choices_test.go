package modelpicker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/cmd/doctor"
	"adze/internal/config"
	"adze/internal/llm/models"
)

// stepsOf are the steps of a listing, a line each.
func stepsOf(l models.Listing) string {
	var out []string
	for _, s := range ForSetup(l, nil).Steps {
		out = append(out, s.Do)
	}
	return strings.Join(out, "\n")
}

// install puts a program on a PATH that holds nothing else.
func install(t *testing.T, names ...string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
}

// Whoever has no model is told the shortest way to one: by what is installed and what runs.
func TestStepsLeadToAModel(t *testing.T) {
	v := models.Fetching()[0]
	no, yes := new(bool), true
	key := "enter a key\nuse your own server\nexport " + models.Keyed()[0] + "=…"
	off := models.ListedProvider{Provider: v.Name, Usable: no, Reason: "not running: refused"}
	empty := models.ListedProvider{Provider: v.Name, Usable: no, Reason: "running, but it has none"}
	locked := models.ListedProvider{Provider: "server", Endpoint: "http://here/v1", Usable: no, WantsKey: true, Reason: "wants a key: adze models login server"}
	full := models.ListedProvider{Provider: v.Name, Usable: &yes, Reason: "running", Models: []models.ListedModel{{Model: "a", Tools: &yes}, {Model: "b", Tools: no}}}
	for name, c := range map[string]struct {
		programs []string
		found    models.ListedProvider
		want     string
	}{
		"nothing there": {nil, off, key + "\nwatch the demo\nopen " + v.Fetch.Site},
		"wants a key":   {nil, locked, "enter the key of server\n" + key + "\nwatch the demo\nopen " + v.Fetch.Site},
		"installed":     {[]string{v.Fetch.Binary()}, off, v.Fetch.Serve + "\n" + key + "\nwatch the demo"},
		"without model": {nil, empty, v.Fetch.Command(v.Fetch.Suggest) + "\n" + key + "\nwatch the demo"},
		"with a model":  {nil, full, "use " + v.Name + "/a\n" + key + "\nwatch the demo"},
	} {
		t.Run(name, func(t *testing.T) {
			install(t, c.programs...)
			if got := stepsOf(models.Listing{Providers: []models.ListedProvider{c.found}}); got != c.want {
				t.Errorf("%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

// Keys that are not set are one line, whatever their number; what the doctor saw stands last.
func TestFindingsAreFew(t *testing.T) {
	no := new(bool)
	l := models.Listing{Providers: []models.ListedProvider{
		{Provider: "one", KeyEnv: "ONE", Usable: no, Reason: "set ONE"}, {Provider: "two", KeyEnv: "TWO", Usable: no, Reason: "set TWO"}, {Provider: "ours", Endpoint: "http://o", Reason: "not asked yet"},
	}}
	var got []string
	for _, f := range ForSetup(l, []doctor.Check{{Name: "terminal", Finding: "wide"}}).Findings {
		got = append(got, f.Name+": "+f.Text)
	}
	if all := strings.Join(got, "; "); all != "ours: not asked yet · http://o; keys: not set: ONE, TWO; terminal: wide" {
		t.Error(all)
	}
}

// The model of the session stands first, once, with what the listing knows of it.
func TestNamedModelsStandFirst(t *testing.T) {
	yes := true
	l := models.Listing{Providers: []models.ListedProvider{{Provider: "p", Usable: &yes, Models: []models.ListedModel{{Model: "a"}, {Model: "b", Context: 7}}}}}
	rows := RowsFrom(models.New(config.Config{}, "", func(string) string { return "" }, models.Memory{}), []string{"p/b", "", "p/b"}, l)
	if len(rows) != 2 || rows[0].Name != "p/b" || rows[0].Context != 7 || rows[1].Name != "p/a" {
		t.Errorf("%+v", rows)
	}
}
