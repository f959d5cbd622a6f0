package cmd_test

import (
	"bytes"
	"errors"
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
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	adzerun "adze/internal/run"
	"adze/internal/testkit/natstest"
)

// deployed are the files of the folder deploy, each document with its name.
type deployed struct {
	t    *testing.T
	docs map[string]map[string]any // by kind and name; compose is the whole file
	text map[string]string
}

func readDeployed(t *testing.T) deployed {
	t.Helper()
	d := deployed{t, map[string]map[string]any{}, map[string]string{}}
	names, err := filepath.Glob("../../deploy/*")
	more, _ := filepath.Glob("../../deploy/kubernetes/*")
	for _, name := range append(names, more...) {
		if info, _ := os.Stat(name); info.IsDir() {
			continue
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		d.text[filepath.Base(name)] = string(raw)
		if filepath.Ext(name) != ".yaml" {
			continue
		}
		for in := yaml.NewDecoder(bytes.NewReader(raw)); ; {
			doc := map[string]any{}
			err := in.Decode(&doc)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			key := filepath.Base(name)
			if kind, ok := doc["kind"].(string); ok {
				key = kind + " " + fmt.Sprint(at(doc, "metadata", "name"))
			}
			if d.docs[key] != nil {
				t.Errorf("%s stands there twice", key)
			}
			d.docs[key] = doc
		}
	}
	if err != nil || len(d.docs) < 9 {
		t.Fatalf("%v, %v", slices.Collect(maps.Keys(d.docs)), err)
	}
	return d
}

// at follows keys and positions into a document; if nil, there is nothing.
func at(v any, path ...any) any {
	for _, step := range path {
		switch s := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[s]
		case int:
			l, _ := v.([]any)
			if s >= len(l) {
				return nil
			}
			v = l[s]
		}
	}
	return v
}

func (d deployed) wants(v any, want any, path ...any) {
	d.t.Helper()
	if got := at(v, path...); fmt.Sprint(got) != fmt.Sprint(want) {
		d.t.Errorf("%v is %v, want %v", path, got, want)
	}
}

// containers are those of all workloads and of compose, by name.
func (d deployed) containers() map[string]any {
	out := map[string]any{}
	for name, doc := range d.docs {
		if l, ok := at(doc, "spec", "template", "spec", "containers").([]any); ok {
			for _, c := range l {
				out[name] = c
			}
		}
		services, _ := doc["services"].(map[string]any)
		for service, c := range services {
			out["compose "+service] = c
		}
	}
	return out
}

// words are those of a list.
func words(v any) (out []string) {
	l, _ := v.([]any)
	for _, w := range l {
		out = append(out, fmt.Sprint(w))
	}
	return out
}

// TestTheProgramKnowsWhatDeploymentsAskOfIt: commands, flags, variables, ports and paths are those
// of this program and of each other.
func TestTheProgramKnowsWhatDeploymentsAskOfIt(t *testing.T) {
	d, u := readDeployed(t), newUser(t)
	run := regexp.MustCompile(`(?m)^CMD (\[.*\])$`).FindStringSubmatch(d.text["Containerfile"])
	if run == nil {
		t.Fatal("the image starts nothing")
	}
	var cmd []any
	if err := yaml.Unmarshal([]byte(run[1]), &cmd); err != nil {
		t.Fatal(err)
	}
	worker := d.docs["Deployment adze-worker"]
	pod := at(worker, "spec", "template", "spec", "containers", 0)
	for where, line := range map[string][]string{"image": words(cmd), "kubernetes": words(at(pod, "args")), "compose": words(at(d.docs["compose.yaml"], "services", "worker", "command"))} {
		if len(line) == 0 {
			t.Fatalf("%s starts nothing", where)
		}
		help := u.run(append(slices.Clone(line[:2]), "--help")...).wants(0).out
		for _, flag := range line[2:] {
			if strings.HasPrefix(flag, "--") && !regexp.MustCompile(regexp.QuoteMeta(flag)+`\b`).MatchString(help) {
				t.Errorf("%s starts adze %s with %s, which that does not know", where, strings.Join(line[:2], " "), flag)
			}
		}
	}
	d.reads(pod)
}

// reads checks that variables which a deployment sets are read somewhere in this program.
func (d deployed) reads(pod any) {
	named := map[string]bool{}
	for _, e := range at(pod, "env").([]any) {
		named[fmt.Sprint(at(e, "name"))] = true
	}
	for name := range at(d.docs["compose.yaml"], "services", "worker", "environment").(map[string]any) {
		if !named[name] {
			d.t.Errorf("compose sets %s, and kubernetes does not", name)
		}
	}
	var all strings.Builder
	_ = filepath.WalkDir("..", func(path string, _ os.DirEntry, _ error) error {
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			raw, _ := os.ReadFile(path)
			all.Write(raw)
		}
		return nil
	})
	for name := range named {
		if strings.HasPrefix(name, "GIT_") { // git reads them
			continue
		}
		if !strings.Contains(all.String(), `"`+name+`"`) {
			d.t.Errorf("%s is set, and nothing reads it", name)
		}
	}
}

// TestDeploymentsAreSafe: nobody is root, no tag moves, no secret stands in a file, and the servers
// sync.
func TestDeploymentsAreSafe(t *testing.T) {
	d := readDeployed(t)
	image := regexp.MustCompile(`(?m)(?:^FROM |image: )(\S+)`)
	for name, text := range d.text {
		for _, m := range image.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(m[1], ":") || strings.HasSuffix(m[1], ":latest") {
				t.Errorf("%s: the image %s has no tag that says which", name, m[1])
			}
			if strings.HasPrefix(m[1], "adze:") && m[1] != "adze:"+adzerun.Version {
				t.Errorf("%s: %s, and this is %s", name, m[1], adzerun.Version)
			}
		}
	}
	if user := regexp.MustCompile(`(?m)^USER (\d+):(\d+)$`).FindAllStringSubmatch(d.text["Containerfile"], -1); len(user) != 1 || user[0][1] == "0" {
		t.Errorf("the image runs as %v", user)
	}
	for _, want := range []string{"CGO_ENABLED=0", " git", "STOPSIGNAL SIGTERM"} {
		if !strings.Contains(d.text["Containerfile"], want) {
			t.Errorf("the image has no %s", want)
		}
	}
	for _, of := range []string{"Deployment adze-worker", "StatefulSet nats"} {
		pod := at(d.docs[of], "spec", "template", "spec")
		d.wants(pod, true, "securityContext", "runAsNonRoot")
		d.wants(pod, false, "automountServiceAccountToken")
		d.wants(pod, "RuntimeDefault", "securityContext", "seccompProfile", "type")
		d.wants(pod, false, "containers", 0, "securityContext", "allowPrivilegeEscalation")
		d.wants(pod, true, "containers", 0, "securityContext", "readOnlyRootFilesystem")
		d.wants(pod, "[ALL]", "containers", 0, "securityContext", "capabilities", "drop")
		if grace, _ := at(pod, "terminationGracePeriodSeconds").(int); grace < 60 {
			t.Errorf("%s has %d seconds to drain", of, grace)
		}
		d.mounts(of, pod)
	}
	grace := regexp.MustCompile(`--grace (\S+?)[ \]]`).FindStringSubmatch(fmt.Sprint(at(d.docs["Deployment adze-worker"], "spec", "template", "spec", "containers", 0, "args")))
	given, _ := at(d.docs["Deployment adze-worker"], "spec", "template", "spec", "terminationGracePeriodSeconds").(int)
	if long, err := time.ParseDuration(append(grace, "", "")[1]); err != nil || long.Seconds() >= float64(given) {
		t.Errorf("the worker drains for %v, and is killed after %d s", grace, given)
	}
	d.wants(d.docs["compose.yaml"], "10001:10001", "services", "worker", "user")
	for name, c := range d.containers() {
		if at(c, "privileged") != nil || strings.Contains(fmt.Sprint(c), "docker.sock") {
			t.Errorf("%s is privileged", name)
		}
	}
	for key, doc := range d.docs {
		// To apply the folder over a real secret would open the servers to everybody.
		if doc["kind"] == "Secret" {
			t.Errorf("%s is a secret in a file", key)
		}
		if doc["kind"] != nil && doc["kind"] != "Namespace" {
			d.wants(doc, at(d.docs["Namespace adze"], "metadata", "name"), "metadata", "namespace")
		}
	}
}

// TestManifestsAreStrictYAML: tools that convert YAML to JSON strictly refuse merged keys and keys
// that stand twice.
func TestManifestsAreStrictYAML(t *testing.T) {
	for name, text := range readDeployed(t).text {
		if filepath.Ext(name) != ".yaml" || name == "compose.yaml" { // compose has merges of its own
			continue
		}
		for in := yaml.NewDecoder(strings.NewReader(text)); ; {
			var node yaml.Node
			if err := in.Decode(&node); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			strict(t, name, &node)
		}
	}
}

func strict(t *testing.T, name string, node *yaml.Node) {
	if node.Kind == yaml.AliasNode || node.Anchor != "" {
		t.Errorf("%s:%d has an anchor or an alias", name, node.Line)
	}
	keys := map[string]bool{}
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 {
			if keys[child.Value] {
				t.Errorf("%s:%d has the key %s twice", name, child.Line, child.Value)
			}
			keys[child.Value] = true
		}
		strict(t, name, child)
	}
}

// TestManifestsHaveFieldsThatThereAre: a strict decoder of the types of Kubernetes takes them.
func TestManifestsHaveFieldsThatThereAre(t *testing.T) {
	raw, err := os.ReadFile("testdata/deploy/fields.yaml")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]any{}
	if err := yaml.Unmarshal(raw, &kinds); err != nil {
		t.Fatal(err)
	}
	for name, doc := range readDeployed(t).docs {
		kind, ok := doc["kind"].(string)
		if !ok { // compose
			continue
		}
		if kinds[kind] == nil {
			t.Errorf("%s is of a kind that fields.yaml does not have", name)
			continue
		}
		for _, wrong := range unlike(kinds[kind], doc, name) {
			t.Error(wrong)
		}
	}
	// The check itself finds what a strict decoder refuses.
	for text, want := range map[string]string{
		"kind: Deployment\nspec: {template: {spec: {containers: [{name: a, imagePolicy: b}]}}}": "imagePolicy is no field",
		"kind: Deployment\nspec: {replicas: \"3\"}":                                             "replicas is no int",
		"kind: ConfigMap\ndata: {a: 1}":                                                         "a is no string",
		"kind: Service\nspec: {ports: {port: 1}}":                                               "ports is no list",
	} {
		doc := map[string]any{}
		if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		if got := unlike(kinds[fmt.Sprint(doc["kind"])], doc, ""); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// unlike lists what of a value is not as a type says.
func unlike(kind, v any, at string) (out []string) {
	switch kind := kind.(type) {
	case map[string]any:
		m, ok := v.(map[string]any)
		if !ok {
			return []string{at + " is no map"}
		}
		for name, value := range m {
			of, known := kind[name]
			if !known {
				of, known = kind["*"]
			}
			if !known {
				out = append(out, at+"."+name+" is no field")
				continue
			}
			out = append(out, unlike(of, value, at+"."+name)...)
		}
		return out
	case []any:
		l, ok := v.([]any)
		if !ok {
			return []string{at + " is no list"}
		}
		for i, value := range l {
			out = append(out, unlike(kind[0], value, fmt.Sprintf("%s[%d]", at, i))...)
		}
		return out
	}
	_, text := v.(string)
	_, number := v.(int)
	_, yes := v.(bool)
	if ok := map[any]bool{"string": text, "int": number, "bool": yes, "port": text || number, "quantity": text || number}[kind]; !ok {
		out = append(out, fmt.Sprintf("%s is no %v", at, kind))
	}
	return out
}

// serverUsers are those of the shipped servers, whose passwords stand in files of their names.
var serverUsers = []string{"owner", "submitter", "worker"}

// TestServersWithoutPasswordsDoNotStart runs what the containers run, as they do, with the real
// server.
func TestServersWithoutPasswordsDoNotStart(t *testing.T) {
	d := readDeployed(t)
	server := natstest.Program(t)
	compose := strings.ReplaceAll(fmt.Sprint(at(d.docs["compose.yaml"], "services", "nats-0", "command", 0)), "$$", "$")
	for where, script := range map[string]string{
		"compose":    compose,
		"kubernetes": fmt.Sprint(at(d.docs["StatefulSet nats"], "spec", "template", "spec", "containers", 0, "args", 0)),
	} {
		for password, starts := range map[string]bool{"": false, "\n": false, "short": false, "adze-0123456789abcdef": true, "1e9000000000000000": true} {
			for _, of := range serverUsers {
				dir := t.TempDir()
				for _, user := range serverUsers {
					text := "adze-0123456789abcdef-" + user
					if user == of {
						text = password
					}
					for _, name := range []string{"nats-" + user, user} {
						if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
							t.Fatal(err)
						}
					}
				}
				if err := os.WriteFile(filepath.Join(dir, "nats.conf"), []byte(d.text["nats.conf"]), 0o600); err != nil {
					t.Fatal(err)
				}
				line := strings.NewReplacer("/run/secrets/nats/", dir+"/", "/run/secrets/", dir+"/", "/etc/nats", dir, "nats-server -c", server+" -t -c").Replace(script)
				cmd := exec.Command("/bin/sh", "-c", line)
				cmd.Env = append(os.Environ(), "NATS_NAME=nats-0")
				out, err := cmd.CombinedOutput()
				if (err == nil) != starts || !starts && !strings.Contains(string(out), "the password of "+of) {
					t.Errorf("%s with the password %q of %s: %v\n%s", where, password, of, err, out)
				}
			}
		}
	}
}

// TestTheScalerCountsTasks: what it asks a server for is there, and counts a submitted task.
func TestTheScalerCountsTasks(t *testing.T) {
	d, u := readDeployed(t), newUser(t)
	server := natstest.Start(t, natstest.Options{})
	u.file("t.jsonl", `{"id":"a","folder":".","command":"true"}`)
	u.run("batch", "t.jsonl", "--on", server.URL(), "--detach").wants(0)
	scaler := d.docs["ScaledObject adze-worker"]
	d.wants(scaler, at(d.docs["Deployment adze-worker"], "metadata", "name"), "spec", "scaleTargetRef", "name")
	trigger := at(scaler, "spec", "triggers", 0)
	d.wants(trigger, "metrics-api", "type")
	_, query, found := strings.Cut(fmt.Sprint(at(trigger, "metadata", "url")), "http://nats.adze.svc:8222")
	if !found {
		t.Fatal("the scaler asks another service")
	}
	answer, err := http.Get(server.Servers[0].Monitor() + query)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, _ := io.ReadAll(answer.Body)
	path := fmt.Sprint(at(trigger, "metadata", "valueLocation"))
	name := regexp.MustCompile(`^account_details\.0\.stream_detail\.#\(name=="(\w+)"\)\.state\.messages$`).FindStringSubmatch(path)
	if name == nil {
		t.Fatalf("another path: %s", path)
	}
	var all any
	if err := yaml.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	streams, _ := at(all, "account_details", 0, "stream_detail").([]any)
	for _, s := range streams {
		if at(s, "name") == name[1] {
			d.wants(s, 1, "state", "messages")
			return
		}
	}
	t.Errorf("there is no stream %s in %s", name[1], raw)
}

// mounts checks that what is mounted is there.
func (d deployed) mounts(of string, pod any) {
	there := map[string]bool{}
	for _, list := range []any{at(pod, "volumes"), at(d.docs[of], "spec", "volumeClaimTemplates")} {
		l, _ := list.([]any)
		for _, v := range l {
			there[fmt.Sprint(at(v, "name"), at(v, "metadata", "name"))] = true
			if secret := at(v, "secret", "secretName"); secret != nil && !strings.Contains(d.text["README.md"], fmt.Sprintf("create secret generic %v ", secret)) {
				d.t.Errorf("%s wants the secret %v, which README.md does not say how to make", of, secret)
			}
		}
	}
	for _, m := range at(pod, "containers", 0, "volumeMounts").([]any) {
		name := fmt.Sprint(at(m, "name"))
		if !there[name+"<nil>"] && !there["<nil>"+name] {
			d.t.Errorf("%s mounts %s, which is not there", of, name)
		}
	}
}

// TestServersOfDeploymentsSync: the configuration is one that the real server takes, it is the same
// in both, and it writes through.
func TestServersOfDeploymentsSync(t *testing.T) {
	d := readDeployed(t)
	own, mapped := d.text["nats.conf"], fmt.Sprint(at(d.docs["ConfigMap nats"], "data", "nats.conf"))
	plain := func(text string) string {
		return strings.Join(strings.Fields(regexp.MustCompile(`(?m)^\s*#.*$`).ReplaceAllString(text, "")), " ")
	}
	if plain(own) != plain(mapped) {
		t.Errorf("compose and kubernetes have other servers:\n%s\n%s", plain(own), plain(mapped))
	}
	if strings.Count(plain(own), "sync_interval: always") != 1 || strings.Contains(own, "persist_mode") {
		t.Error("the servers do not write through")
	}
	d.wants(d.docs["StatefulSet nats"], 3, "spec", "replicas")
	for _, name := range []string{"nats-0", "nats-1", "nats-2"} {
		d.wants(d.docs["compose.yaml"], "unless-stopped", "services", name, "restart")
		for _, where := range []string{own, fmt.Sprint(d.docs["compose.yaml"]), fmt.Sprint(d.docs["Deployment adze-worker"])} {
			if !strings.Contains(where, name+".nats") {
				t.Errorf("%s is missing in %.60s", name, where)
			}
		}
	}
	server := natstest.Program(t)
	file := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(file, []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, password := range []string{"adze-1e9", "1e9", "0x17"} {
		cmd := exec.Command(server, "-t", "-c", file)
		cmd.Env = append(os.Environ(), "NATS_NAME=nats-0", `NATS_OWNER="`+password+`"`, `NATS_SUBMITTER="`+password+`"`, `NATS_WORKER="`+password+`"`)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("the server takes no password %s: %v\n%s", password, err, out)
		}
	}
}
