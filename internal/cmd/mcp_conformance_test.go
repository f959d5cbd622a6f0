package cmd_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"adze/internal/testkit/nodetest"
)

// The conformance suite of the protocol's makers: npm's @modelcontextprotocol/conformance plays the
// MCP server and the authorization server, and runs a client for each scenario. The client here is
// adze itself, as its user runs it: adze mcp add, adze mcp login with a browser that follows where
// it is sent, and adze -p, whose model is a script that calls the tools and whose host answers what
// is asked. (asConformanceClient is that user.)

// notClaimed are the scenarios of a client that adze does not claim, with the reason.
var notClaimed = map[string]string{
	"auth/dpop":                          "tokens are not bound to keys",
	"auth/dpop-nonce":                    "tokens are not bound to keys",
	"sep-2640-client-no-prefetch":        "skills of MCP servers are not used",
	"sep-2640-client-verify-digest":      "skills of MCP servers are not used",
	"sep-2640-client-verify-size":        "skills of MCP servers are not used",
	"sep-2640-client-verify-frontmatter": "skills of MCP servers are not used",
}

// conformance is the suite's program, as arguments of node. The suite imports fs.globSync, which
// Node has since version 22 and which only its report on SDKs calls; an older Node gets a stand-in.
func conformance(t *testing.T) []string {
	t.Helper()
	const pkg = "@modelcontextprotocol/conformance"
	modules := nodetest.Modules(t, pkg)
	hook := filepath.Join(t.TempDir(), "glob.mjs")
	if err := os.WriteFile(hook, []byte(`import { register } from 'node:module';
import * as fs from 'node:fs';
const shim = "export * from 'node:fs'; export { default } from 'node:fs'; export const globSync = () => { throw new Error('no globSync in this Node'); };";
const hooks = 'const shim = ' + JSON.stringify('data:text/javascript,' + encodeURIComponent(shim)) + ';' +
  "export async function resolve(s, c, next) { return s === 'fs' && c.parentURL?.includes('@modelcontextprotocol/conformance') ? { url: shim, shortCircuit: true } : next(s, c); }";
if (!fs.globSync) register('data:text/javascript,' + encodeURIComponent(hooks));
`), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"node", "--import", hook, filepath.Join(modules, filepath.FromSlash(pkg), "dist", "index.js")}
}

// scenario is one of the suite, with the versions of the protocol that it is for.
type scenario struct{ name, versions string }

// scenarios lists those of the suite for clients or for servers.
func scenarios(t *testing.T, suite []string, of string) (out []scenario) {
	t.Helper()
	raw, err := exec.Command(suite[0], append(suite[1:], "list")...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	in := false
	for line := range strings.SplitSeq(string(raw), "\n") {
		switch name, found := strings.CutPrefix(line, "  - "); {
		case !found:
			in = strings.HasPrefix(line, of) || in && line == ""
		case in:
			name, versions, _ := strings.Cut(name, " ")
			out = append(out, scenario{name, versions})
		}
	}
	if len(out) == 0 {
		t.Fatalf("no %s scenarios in %s", of, raw)
	}
	return out
}

// verdict is what the suite says of a scenario.
type verdict struct {
	passed bool
	checks string // such as "7 passed"
	report string // of the suite
}

// checksOf reads what the suite wrote about its checks; a warning counts as a failure, as in the
// suite itself.
func checksOf(t *testing.T, dir string) (counts string, failed bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if more, _ := filepath.Glob(filepath.Join(dir, "*", "*", "checks.json")); len(more) > 0 {
		files = append(files, more...)
	}
	if err != nil || len(files) != 1 {
		return fmt.Sprintf("%d reports", len(files)), true
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var checks []struct{ Status, ErrorMessage string }
	if err := json.Unmarshal(raw, &checks); err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for _, c := range checks {
		if strings.HasPrefix(c.ErrorMessage, "Not testable: server does not list the diagnostic tool") {
			c.Status = "NOT TESTABLE" // the tools of adze are its own
		}
		n[c.Status]++
	}
	counts = fmt.Sprintf("%d passed", n["SUCCESS"])
	for _, s := range []string{"FAILURE", "WARNING", "SKIPPED", "NOT TESTABLE"} {
		if n[s] > 0 {
			counts += fmt.Sprintf(", %d %s", n[s], strings.ToLower(s))
		}
	}
	return counts, n["FAILURE"]+n["WARNING"] > 0 || n["SUCCESS"] == 0
}

// runScenario has the suite judge one scenario.
func runScenario(t *testing.T, suite []string, env []string, args ...string) verdict {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, suite[0], append(append(slices.Clone(suite[1:]), args...), "-o", dir)...)
	c.Env, c.Dir, c.WaitDelay = env, dir, 10*time.Second
	report, err := c.CombinedOutput()
	counts, failed := checksOf(t, dir)
	passed := !failed && (err == nil || strings.Contains(counts, "not testable")) // which the suite counts as failed
	return verdict{passed: passed, checks: counts, report: string(report)}
}

// table prints what became of the scenarios, and fails with the reports of those that did not pass.
func table(t *testing.T, got map[string]verdict) {
	t.Helper()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(got)) {
		word := "passed"
		if !got[name].passed {
			word = "FAILED"
		}
		fmt.Fprintf(&b, "%-46s %s  %s\n", name, word, got[name].checks)
	}
	t.Logf("scenarios of the conformance suite:\n%s", b.String())
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if v := got[name]; !v.passed {
			t.Errorf("%s:\n%s", name, v.report)
		}
	}
}

// judged runs some scenarios at a time.
func judged(names []string, run func(name string) verdict) map[string]verdict {
	got := map[string]verdict{}
	var mu sync.Mutex
	var running errgroup.Group
	running.SetLimit(4)
	for _, name := range names {
		running.Go(func() error {
			v := run(name)
			mu.Lock()
			defer mu.Unlock()
			got[name] = v
			return nil
		})
	}
	_ = running.Wait() // none fails
	return got
}

// TestMCPClientConformance runs every scenario of a client that adze claims; a scenario that a
// newer suite brings is claimed until somebody says why not.
func TestMCPClientConformance(t *testing.T) {
	suite := conformance(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	u := newUser(t) // for its environment
	env := append(slices.DeleteFunc(u.env, func(kv string) bool { return strings.HasPrefix(kv, asMain+"=") }), asConformance+"=1")
	only := regexp.MustCompile(cmp.Or(os.Getenv("ADZE_TEST_SCENARIOS"), "."))
	var claimed []string
	for _, s := range scenarios(t, suite, "Client scenarios") {
		if notClaimed[s.name] == "" && only.MatchString(s.name) {
			claimed = append(claimed, s.name)
			if s.name == "auth/scope-step-up" { // since this version the scopes of before are wanted, too
				claimed = append(claimed, s.name+" 2026-07-28")
			}
		}
	}
	got := judged(claimed, func(name string) verdict {
		name, version, newer := strings.Cut(name, " ")
		args := []string{"client", "--command", self, "--scenario", name, "--timeout", "100000"}
		if newer {
			args = append(args, "--spec-version", version)
		}
		return runScenario(t, suite, env, args...)
	})
	for name, why := range notClaimed {
		t.Logf("not claimed: %s: %s", name, why)
	}
	table(t, got)
}

// asConformance makes the test binary the client that the suite runs: it gets the address of a
// server as its last argument.
const asConformance = "ADZE_TEST_CONFORMANCE"

// browse makes the test binary the browser of such a client: it goes where it is sent.
func browse(address string) {
	resp, err := http.Get(address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	resp.Body.Close()
}

// conformanceUser is somebody who runs adze in a scenario.
type conformanceUser struct {
	home, dir string
	env       []string
	scenario  string
	given     map[string]json.RawMessage // what the scenario tells its client
	server    string
	oauth     map[string]string // of the server's configuration
}

// text is a text of what the scenario tells.
func (u *conformanceUser) text(name string) (s string) {
	_ = json.Unmarshal(u.given[name], &s) // absent: empty
	return s
}

// asConformanceClient is a user who has never seen the server: they add it, log in when they are
// told to, and have the model call its tools.
func asConformanceClient(server string) error {
	root, err := os.MkdirTemp("", "adze-conformance-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	u := &conformanceUser{home: filepath.Join(root, "home"), dir: filepath.Join(root, "work"), server: server, scenario: os.Getenv("MCP_CONFORMANCE_SCENARIO")}
	if raw := os.Getenv("MCP_CONFORMANCE_CONTEXT"); raw != "" {
		if err := json.Unmarshal([]byte(raw), &u.given); err != nil {
			return err
		}
	}
	programs := filepath.Join(root, "bin")
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, dir := range []string{u.home, u.dir, programs} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if err := os.Symlink(self, filepath.Join(programs, "xdg-open")); err != nil {
		return err
	}
	for _, kv := range os.Environ() {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case asConformance, "ADZE_HOME", "PATH", "DISPLAY", "CI", "SSH_CONNECTION":
		default:
			u.env = append(u.env, kv)
		}
	}
	u.env = append(u.env, asMain+"=1", "ADZE_HOME="+u.home, "DISPLAY=:0", "PATH="+programs+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if err := u.credentials(); err != nil {
		return err
	}
	for range 4 { // as often as somebody would try again
		again, err := u.visit()
		if err != nil || !again {
			return err
		}
	}
	return fmt.Errorf("it still wants a login")
}

// credentials puts what the scenario gives this client where its user would: a secret into a
// variable or a file that the configuration names.
func (u *conformanceUser) credentials() error {
	file := func(name string) string {
		path := filepath.Join(u.home, name)
		_ = os.WriteFile(path, []byte(u.text(name)+"\n"), 0o600) // adze says when it is not there
		return path
	}
	u.env = append(u.env, "ACME_SECRET="+u.text("client_secret"))
	switch u.scenario {
	case "auth/basic-cimd":
		u.oauth = map[string]string{"client_metadata": "https://conformance-test.local/client-metadata.json"}
	case "auth/client-credentials-basic":
		u.oauth = map[string]string{"grant": "client_credentials", "client_id": u.text("client_id"), "client_secret": "${ACME_SECRET}"}
	case "auth/client-credentials-jwt":
		u.oauth = map[string]string{"grant": "client_credentials", "client_id": u.text("client_id"), "private_key_file": file("private_key_pem"), "signing_algorithm": u.text("signing_algorithm")}
	case "auth/wif-jwt-bearer":
		u.oauth = map[string]string{"grant": "jwt_bearer", "client_id": u.text("client_id"), "assertion_file": file("valid_jwt")}
	case "auth/enterprise-managed-authorization":
		u.oauth = map[string]string{"grant": "token_exchange", "client_id": u.text("client_id"), "client_secret": "${ACME_SECRET}",
			"assertion_file": file("idp_id_token"), "idp_issuer": u.text("idp_issuer"), "idp_client_id": u.text("idp_client_id")}
	}
	return u.configure()
}

func (u *conformanceUser) configure() error {
	acme := map[string]any{"url": u.server}
	if u.oauth != nil {
		acme["oauth"] = u.oauth
	}
	raw, err := json.Marshal(map[string]any{"allow": []string{"execute(mcp:acme **)"}, "mcp": map[string]any{"servers": map[string]any{"acme": acme}}})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(u.home, "config.json"), raw, 0o600)
}

// run runs adze, and passes on what it says.
func (u *conformanceUser) run(args ...string) (said string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	c := exec.Command(self, args...)
	c.Dir, c.Env = u.dir, u.env
	raw, err := c.CombinedOutput()
	fmt.Fprintf(os.Stderr, "$ adze %s\n%s", strings.Join(args, " "), raw)
	return string(raw), err
}

var (
	wantsLogin  = regexp.MustCompile(`adze mcp login acme( --scope '[^']*')?`)
	wantsIssuer = regexp.MustCompile(`--issuer (https?://[^\s,]+)`)
)

// visit looks at the server, logs in where it wants that, and has the model call all tools; again
// says that a login was made and the server wants to be tried again.
func (u *conformanceUser) visit() (again bool, err error) {
	said, err := u.run("mcp", "test", "acme", "--json")
	if m := wantsIssuer.FindStringSubmatch(said); err != nil && m != nil && u.oauth["grant"] != "" {
		u.oauth["issuer"] = m[1]
		return true, u.configure()
	}
	if wantsLogin.MatchString(said) {
		return true, u.login(wantsLogin.FindString(said))
	}
	if err != nil {
		return false, err
	}
	tools, err := u.run("tools", "list", "--json")
	if err != nil {
		return false, err
	}
	said, err = u.talk(u.script(tools), "use the tools")
	if u.scenario == "http-standard-headers" && err == nil {
		_, _ = u.talk("# nothing\n-- 1 --\ntext: done\n", "/acme:test_prompt") // it has no text: that it was asked for counts
	}
	if wantsLogin.MatchString(said) {
		return true, u.login(wantsLogin.FindString(said))
	}
	return false, err
}

// login does what adze says: it runs the command, and again with the address that it names.
func (u *conformanceUser) login(command string) error {
	args := []string{"mcp", "login", "acme"}
	if _, scopes, ok := strings.Cut(command, "--scope '"); ok {
		args = append(args, "--scope", strings.TrimSuffix(scopes, "'"))
	}
	if u.text("client_secret") != "" {
		args = append(args, "--client-id", u.text("client_id"), "--client-secret-from", "ACME_SECRET")
	}
	said, err := u.run(args...)
	if m := wantsIssuer.FindStringSubmatch(said); err != nil && m != nil {
		_, err = u.run(append(args, "--issuer", m[1])...)
	}
	return err
}

// script has the model call each tool once, and read a resource.
func (u *conformanceUser) script(tools string) string {
	var b strings.Builder
	n := 0
	call := func(name string, args any) {
		n++
		raw, _ := json.Marshal(args) // they encode
		fmt.Fprintf(&b, "-- %d --\ncall %s: %s\n", n, name, raw)
	}
	var planned []struct {
		Name      string         `json:"name"`
		Arguments map[string]any `json:"arguments"`
	}
	_ = json.Unmarshal(u.given["toolCalls"], &planned)
	for _, one := range planned {
		call("acme_"+one.Name, one.Arguments)
	}
	var focal json.RawMessage // a schema to be sent back as it was received
	var all []struct {
		Name       string          `json:"name"`
		Parameters json.RawMessage `json:"parameters"`
	}
	_ = json.Unmarshal([]byte(tools), &all) // without tools the suite says what is missing
	for _, d := range all {
		if !strings.HasPrefix(d.Name, "acme_") || len(planned) > 0 {
			continue
		}
		if d.Name == "acme_json_schema_2020_12_tool" {
			focal = d.Parameters
		}
		switch d.Name {
		case "acme_json_schema_2020_12_tool": // the other tool is told of it
		case "acme_json_schema_echo":
			call(d.Name, map[string]any{"schema": focal})
		case "acme_add_numbers":
			call(d.Name, map[string]any{"a": 5, "b": 3})
		default:
			call(d.Name, filled(d.Parameters))
		}
	}
	if u.scenario == "http-standard-headers" {
		call("mcp_resource", map[string]any{"server": "acme", "uri": "https://example.com/resource?id=123"})
	}
	fmt.Fprintf(&b, "-- %d --\ntext: done\n", n+1)
	return "# a scenario\n" + b.String()
}

// filled are arguments that a tool wants: a text for each that it needs.
func filled(schema json.RawMessage) map[string]string {
	var s struct{ Required []string }
	_ = json.Unmarshal(schema, &s) // without a schema nothing is needed
	args := map[string]string{}
	for _, name := range s.Required {
		args[name] = "us-west1"
	}
	return args
}

// talk runs adze -p and answers what it asks, as somebody who means to go on.
func (u *conformanceUser) talk(script, prompt string) (said string, err error) {
	path := filepath.Join(u.home, "script.txtar")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		return "", err
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	c := exec.Command(self, "-p", "--input-format=stream-json", "--output-format=stream-json", "--model=script/"+path, prompt)
	var all, errs bytes.Buffer
	c.Dir, c.Env, c.Stderr = u.dir, u.env, &errs
	in, err := c.StdinPipe()
	if err != nil {
		return "", err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := c.Start(); err != nil {
		return "", err
	}
	lines := bufio.NewScanner(io.TeeReader(out, &all))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var l struct {
			Type, Question, Text string
			Choices              []string
		}
		if json.Unmarshal(lines.Bytes(), &l) != nil {
			continue
		}
		switch l.Type {
		case "question":
			answer, _ := json.Marshal(map[string]string{"type": "answer", "question": l.Question, "choice": agrees(l.Text, l.Choices)}) // texts encode
			_, _ = in.Write(append(answer, '\n'))
		case "turn":
			in.Close()
		}
	}
	err = c.Wait()
	fmt.Fprintf(os.Stderr, "$ adze -p\n%s%s%s", script, all.String(), errs.String())
	return all.String() + errs.String(), err
}

// agrees is the answer of somebody who lets everything go on, with what a form proposes.
func agrees(text string, choices []string) string {
	if _, usual, ok := strings.Cut(text, "default: "); ok {
		for _, c := range choices {
			if strings.HasPrefix(usual, c) {
				return c
			}
		}
	}
	for _, want := range []string{"usual", "default", "leave it out", "log in", "yes"} {
		if i := slices.IndexFunc(choices, func(c string) bool { return strings.Contains(c, want) }); i >= 0 {
			return choices[i]
		}
	}
	if len(choices) > 0 {
		return choices[0]
	}
	return ""
}
