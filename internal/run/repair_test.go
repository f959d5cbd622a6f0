package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// mending writes a configuration with a repair model that answers by a script.
func (u *user) mending(answer string) {
	u.t.Helper()
	path := filepath.Join(u.home, "mending.txtar")
	if err := os.WriteFile(path, []byte("# a model that mends\n-- 1 --\nexpect prompt: (?s)tool: read.*problem: .*schema:.*arguments:\ntext: "+answer+"\n"), 0o644); err != nil {
		u.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(u.home, "config.json"), []byte(`{"repair_model": "script/`+path+`"}`), 0o600); err != nil {
		u.t.Fatal(err)
	}
}

// TestMalformedArguments runs what a model wrote from its text to the stream of events.
func TestMalformedArguments(t *testing.T) {
	const slip = `{"path":"a.txt" "limit":1}`
	for name, c := range map[string]struct {
		written, mended string // mended "": no repair model
		origin, repair  string
		status, code    string
	}{
		"a rule mends":                    {`{'path': 'a.txt',}`, "", "repaired", "single_quotes+trailing_comma", "completed", ""},
		"no rule applies":                 {slip, "", "native", "", "invalid", "invalid_json"},
		"a model mends":                   {slip, `{"path":"a.txt","limit":1}`, "repaired", "model", "completed", ""},
		"a model invents":                 {slip, `{"path":"b.txt","limit":1}`, "native", "", "invalid", "invalid_json"},
		"a rule mends, no model is asked": {`{"file_path":"a.txt"}`, `{"path":"a.txt"}`, "alias", "", "completed", ""},
		"a cut is shown to no model":      {`{"path":"a.txt","limit":1`, `{"path":"a.txt","limit":1}`, "native", "", "invalid", "invalid_json"},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			u.file("a.txt", "one\ntwo\n")
			if c.mended != "" {
				u.mending(c.mended)
			}
			r := u.run("-p", "--output-format=stream-json", u.script("-- 1 --\ncall read: "+c.written+"\n-- 2 --\nexpect read "+c.status+": .\ntext: Done.\n"), "look").wants(0)
			for _, l := range r.lines() {
				switch l["type"] {
				case "tool_start":
					p, _ := l["provenance"].(map[string]any)
					if p["origin"] != c.origin || fmt.Sprint(p["repair"]) != fmt.Sprint(orNil(c.repair)) {
						t.Errorf("provenance %v", p)
					}
				case "tool_end":
					if l["status"] != c.status || fmt.Sprint(l["code"]) != fmt.Sprint(orNil(c.code)) || l["validated"] != (c.status == "completed") {
						t.Errorf("end %v", l)
					}
				}
			}
		})
	}
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func TestARepairModelMustExist(t *testing.T) {
	u := newUser(t)
	u.configure(`{"repair_model": "acme/m"}`)
	u.run("-p", u.script("-- 1 --\ntext: Done.\n"), "look").wants(3, "repair_model", `no provider "acme"`)
}
