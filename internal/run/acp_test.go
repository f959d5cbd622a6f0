package run_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"adze/internal/testkit/nodetest"
)

// acpClient is the editor's side that tests drive adze with.
const acpClient = "@agentclientprotocol/sdk"

// editor runs a scenario against adze acp with the official client, and returns what it said, by
// name. All that adze wrote is held to the protocol's schema.
func (u *user) editor(scenario string, args ...string) (said map[string]any, kinds []string) {
	u.t.Helper()
	lib, err := os.ReadFile(filepath.Join("testdata", "acp", "client.mjs"))
	if err != nil {
		u.t.Fatal(err)
	}
	script := nodetest.Script(u.t, "scenario.mjs", "import { connect, story, say, folder } from './client.mjs';\n"+scenario, acpClient)
	if err := os.WriteFile(filepath.Join(filepath.Dir(script), "client.mjs"), lib, 0o600); err != nil {
		u.t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		u.t.Fatal(err)
	}
	argv, err := json.Marshal(append([]string{self, "acp"}, args...))
	if err != nil {
		u.t.Fatal(err)
	}
	wire := filepath.Join(u.t.TempDir(), "wire")
	cmd := exec.Command("node", script)
	cmd.Dir, cmd.Env = u.dir, append(slices.Clone(u.env), "ADZE_ARGV="+string(argv), "ADZE_FOLDER="+u.dir, "ADZE_WIRE="+wire)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		u.t.Fatalf("%v\n%s\n%s", err, out.String(), errs.String())
	}
	said = map[string]any{}
	for line := range strings.Lines(out.String()) {
		var s struct {
			Name  string
			Value any
		}
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			u.t.Fatalf("the scenario wrote %q", line)
		}
		said[s.Name] = s.Value
	}
	return said, newProtocol(u.t).holds(wire)
}

// protocol is the schema of the protocol's own package.
type protocol struct {
	t     *testing.T
	defs  map[string]json.RawMessage
	names map[string]string // by side, method and Request, Response or Notification
	made  map[string]*jsonschema.Resolved
}

func newProtocol(t *testing.T) *protocol {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(nodetest.Modules(t, acpClient), filepath.FromSlash(acpClient), "schema", "v1", "schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	p := &protocol{t: t, names: map[string]string{}, made: map[string]*jsonschema.Resolved{}}
	var all struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	p.defs = all.Defs
	stable := maps.Clone(all.Defs)
	if raw, err = os.ReadFile(filepath.Join(nodetest.Modules(t, acpClient), filepath.FromSlash(acpClient), "schema", "v1", "schema.unstable.json")); err == nil {
		all.Defs = nil
		err = json.Unmarshal(raw, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, def := range all.Defs { // what the stable one does not have
		if _, has := stable[name]; !has {
			p.defs[name] = def
		}
	}
	for name, def := range p.defs {
		var about struct {
			Side   string `json:"x-side"`
			Method string `json:"x-method"`
		}
		_ = json.Unmarshal(def, &about) // a def that is true or false is about no method
		for _, kind := range []string{"Request", "Response", "Notification"} {
			if about.Method != "" && strings.HasSuffix(name, kind) {
				p.names[about.Side+" "+about.Method+" "+kind] = name
			}
		}
	}
	return p
}

// check is that of one definition.
func (p *protocol) check(name string) *jsonschema.Resolved {
	p.t.Helper()
	if c, ok := p.made[name]; ok {
		return c
	}
	raw, err := json.Marshal(map[string]any{"$ref": "#/$defs/" + name, "$defs": p.defs})
	if err != nil {
		p.t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(raw, &schema); err != nil {
		p.t.Fatal(err)
	}
	c, err := schema.Resolve(nil)
	if err != nil {
		p.t.Fatalf("%s: %v", name, err)
	}
	p.made[name] = c
	return c
}

// holds holds all that adze wrote to the schema, and returns the kinds of updates that were among
// it.
func (p *protocol) holds(wire string) (kinds []string) {
	p.t.Helper()
	raw, err := os.ReadFile(wire)
	if err != nil {
		p.t.Fatal(err)
	}
	streams := map[string]*bytes.Buffer{"adze": {}, "editor": {}}
	for line := range strings.Lines(string(raw)) {
		from, data, _ := strings.Cut(strings.TrimSpace(line), "\x00")
		piece, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			p.t.Fatal(err)
		}
		streams[from].Write(piece)
	}
	methods := map[string]string{}
	type message struct {
		ID     json.RawMessage
		Method string
		Params any
		Result *json.RawMessage
		Error  any
	}
	each := func(stream *bytes.Buffer, do func(message, string)) {
		lines := bufio.NewScanner(stream)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var m message
			if json.Unmarshal(lines.Bytes(), &m) == nil {
				do(m, lines.Text())
			}
		}
	}
	each(streams["editor"], func(m message, _ string) {
		if m.Method != "" {
			methods[string(m.ID)] = m.Method
		}
	})
	each(streams["adze"], func(m message, line string) {
		name, value := "Error", m.Error
		switch {
		case m.Method != "" && m.Method[0] == '$':
			return
		case m.Method != "" && m.ID != nil:
			name, value = p.names["client "+m.Method+" Request"], m.Params
		case m.Method != "":
			name, value = p.names["client "+m.Method+" Notification"], m.Params
			if update, ok := m.Params.(map[string]any)["update"].(map[string]any); ok {
				kinds = append(kinds, update["sessionUpdate"].(string))
			}
		case m.Error == nil:
			name = p.names["agent "+methods[string(m.ID)]+" Response"]
			_ = json.Unmarshal(*m.Result, &value) // it was read before
		}
		if name == "" {
			p.t.Fatalf("the protocol has no such message: %.300s", line)
		}
		if err := p.check(name).Validate(value); err != nil {
			p.t.Errorf("%s: %v\n%.600s", name, err, line)
		}
	})
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// asJSON is a value as one text, without escapes for HTML.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}
