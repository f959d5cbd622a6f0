package policyconfig

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/internal/config"
	"adze/internal/files/workspace"
	"adze/internal/policy"
	"adze/internal/testkit/effort"
	"adze/tool"
)

// neighbour is a call close to one that was allowed.
type neighbour struct {
	kind string // a name of [phrases]
	q    tool.Question
}

// said are the phrases by which the text of an offer says of a kind of neighbour that it runs, and
// that it is asked for. Without either the kind is asked for, whatever the text says.
type said struct{ runs, asked []string }

// phrases are all kinds of neighbours. This is how a user reads an offer, written down without a
// look at how rules match.
func phrases() map[string]said {
	list := func(s ...string) []string { return s }
	return map[string]said{
		"the same":           {list("exactly this command", "whatever its arguments", "any call of any tool", "any options and names", "nothing behind it", "reads of", "edits to", "every file below", "this address", "every page of"), nil},
		"the same, a job":    {list("exactly this command", "any options and names", "nothing behind it"), nil},
		"other arguments":    {list("any options and names", "whatever its arguments", "any call of any tool"), list("other arguments")},
		"other subcommand":   {nil, list("another subcommand", "other arguments", "other programs")},
		"other program":      {},
		"other folder":       {list("in every folder"), list("other folders")},
		"harmless variable":  {list("behind CI=1"), list("other variables")},
		"risky variable":     {},
		"behind a wrapper":   {list("behind CI=1, env, nohup"), list("behind sudo, env")},
		"behind a shell":     {nil, list("sudo, env or sh -c", "sudo or sh -c")},
		"beside another":     {},
		"outside":            {},
		"acting option":      {list("any options and names"), list("options by which", "other arguments")},
		"secret read by it":  {list("any options and names"), list("files known for their secrets", "other arguments")},
		"other tool":         {list("any call of any tool"), list("other tools")},
		"resources":          {list("reading its resources"), list("other tools")},
		"other server":       {nil, list("other servers")},
		"program of a name":  {},
		"tool of a name":     {},
		"other access":       {},
		"other file":         {nil, list("other files", "files elsewhere")},
		"file below":         {list("every file below"), list("other files")},
		"secret below":       {list("every file below", "with files known for their secrets"), list("files known for their secrets", "other files")},
		"acting file below":  {list("every file below"), list("files that make other programs run things", "other files")},
		"protected below":    {},
		"other page":         {list("every page"), nil},
		"other host":         {nil, list("other hosts")},
		"host below":         {nil, list("hosts below it")},
		"other port":         {nil, list("other ports")},
		"other scheme":       {list("by http and https"), list("other schemes")},
		"approval each time": {},
	}
}

// means is what a text says of a kind of neighbour. What it says of a saved rule wins, then what it
// leaves out.
func means(kind, covers, spares, saved string) (runs bool, err error) {
	all, known := phrases()[kind]
	if !known {
		return false, fmt.Errorf("no kind of neighbour is called %q", kind)
	}
	in := func(text string, of []string) bool {
		return slices.ContainsFunc(of, func(phrase string) bool { return strings.Contains(text, phrase) })
	}
	switch {
	case in(saved, all.runs):
		return true, nil
	case in(spares, all.asked):
		return false, nil
	case in(covers, all.runs):
		return true, nil
	case len(all.runs)+len(all.asked) == 0:
		return false, nil
	case kind == "acting option", kind == "secret read by it": // only some programs have them
		return in(covers, []string{"any options and names"}), nil
	}
	return false, fmt.Errorf("the text says nothing of it")
}

// world makes gates over two workspaces.
type world struct {
	t              *testing.T
	home           string
	here, away     RunPaths
	rng            *rand.Rand
	mode           string         // the questions are asked in
	free, freeAway *policy.Policy // in which nothing is granted
	yolo           *policy.Policy // in which everything is allowed
}

func newWorld(t *testing.T, rng *rand.Rand) *world {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, rng: rng, home: top + "/home"}
	t.Setenv("HOME", w.home)
	for _, name := range []string{"home/.ssh/id_ed25519", "home/notes/a.txt", "lib/doc/one.txt", "lib/doc/one.txt2", "lib/doc/deep/two.txt", "lib/doc/.env", "lib/other.txt"} {
		write(t, top+"/"+name)
	}
	for i, ground := range []*RunPaths{&w.here, &w.away} {
		dir := fmt.Sprint(top, "/work", i)
		for _, name := range []string{"README.md", "src/a.go", "src/deep/b.go", "src/.env", "src/.envrc", "sub/Makefile", ".env", "docs/ü.md"} {
			write(t, dir+"/"+name)
		}
		root, err := workspace.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { root.Close() })
		*ground = RunPaths{Root: root}
	}
	w.in("ask")
	if w.yolo, err = New(config.Config{}, Flags{Mode: "yolo"}, w.here, nil); err != nil {
		t.Fatal(err)
	}
	return w
}

// in has the questions asked in a mode.
func (w *world) in(mode string) {
	w.mode = mode
	w.free, w.freeAway = w.gate(w.here, nil), w.gate(w.away, nil)
}

func write(t *testing.T, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (w *world) gate(g RunPaths, ask policy.Asker, allow ...string) *policy.Policy {
	w.t.Helper()
	p, err := New(config.Config{}, Flags{Mode: w.mode, Allow: allow}, g, ask)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// runs reports a call that the gate lets through without a question.
func (w *world) runs(p *policy.Policy, q tool.Question) bool {
	w.t.Helper()
	d, err := p.Decide(w.t.Context(), q)
	if err != nil {
		w.t.Fatalf("%+v: %v", q.Needs, err)
	}
	return d.Allow && !d.Asked
}

// offers are what the gate offers for a call, and a gate for each in which it was taken.
func (w *world) offers(q tool.Question) (offers []policy.Offer, taken []*policy.Policy) {
	for n := 0; ; n++ {
		granted := false
		p := w.gate(w.here, func(_ context.Context, _ tool.Question, prompt policy.Prompt) (policy.Answer, error) {
			if granted || n >= len(prompt.Offers) {
				return policy.Answer{Choice: policy.No}, nil
			}
			granted = true
			offers = append(offers, prompt.Offers[n])
			return policy.Answer{Choice: policy.Session, Offer: n}, nil
		})
		d, err := p.Decide(w.t.Context(), q)
		if err != nil {
			w.t.Fatal(err)
		}
		if !granted {
			return offers, taken
		}
		if !d.Allow {
			w.t.Errorf("%+v: a yes is a no: %+v", q.Needs, d)
		}
		taken = append(taken, p)
	}
}

// TestOffersSayWhatTheyAllow takes thousands of offers and tries calls that are close to them: what
// then runs is what the text of the offer says. ADZE_TESTS is how many.
func TestOffersSayWhatTheyAllow(t *testing.T) {
	most := effort.Rounds(50, 100, 10_000)
	w := newWorld(t, rand.New(rand.NewPCG(1, uint64(most))))
	kinds := []func(*world) (tool.Question, []neighbour){(*world).server, (*world).command, (*world).command, (*world).file, (*world).address, (*world).several}
	counted, wrong, told := map[string]int{}, 0, map[string]bool{}
	for made := 0; made < most; {
		w.in(w.one("ask", "ask", "edits", "auto"))
		q, near := kinds[w.rng.IntN(len(kinds))](w)
		if w.runs(w.free, q) {
			continue // nobody is asked
		}
		offers, taken := w.offers(q)
		if len(offers) == 0 {
			counted["no offer"]++
			made++ // what may not last is a case of its own
			continue
		}
		for i, o := range offers {
			made++
			counted[string(o.Kind)]++
			near := near
			if strings.HasPrefix(o.Rules[0], "allow read(") && q.Needs[0].Permission == tool.Execute { // of what the command reads
				_, near = w.beside(tool.Read, tool.Write, filepath.Dir(w.home)+"/lib/doc/one.txt")
				if strings.Contains(o.Rules[0], "one.txt/**") {
					near = []neighbour{{"the same", q}, {"other file", asks(tool.Need{Permission: tool.Read, Target: filepath.Dir(w.home) + "/lib/other.txt"})}}
				}
			}
			w.names(o, q.Needs[0])
			if d, away := o.Covers, w.saved(w.away, o); away != nil && !strings.Contains(o.Rules[0], "(abs:") && !strings.HasPrefix(o.Rules[0], "allow network(") && !w.runs(w.freeAway, q) {
				counted["neighbours"]++
				if got, want := w.runs(away, q), strings.Contains(o.Saved, "in every workspace") || strings.Contains(o.Saved, "in every folder"); got != want {
					wrong++
					t.Errorf("saved, %s: covers %s, saved %s: in another workspace it runs: %v", o.Rules, d, o.Saved, got)
				}
			}
			for _, n := range near {
				for _, by := range []struct {
					how, saved string
					gate       *policy.Policy
				}{{"for the session", "", taken[i]}, {"saved", o.Saved, w.saved(w.here, o)}} {
					if by.gate == nil || w.runs(w.free, n.q) {
						continue // nothing to say: no rule is saved, or it runs without one
					}
					counted["neighbours"]++
					want, err := means(n.kind, o.Covers, o.Spares, by.saved)
					if want && !w.runs(w.yolo, n.q) {
						continue // it is no call that can be made
					}
					if got := w.runs(by.gate, n.q); err != nil || got != want {
						wrong++
						if told[string(o.Kind)+n.kind+by.how] {
							continue
						}
						told[string(o.Kind)+n.kind+by.how] = true
						t.Errorf("%s, %s: %v\n  covers %s\n  not %s\n  saved %s\n%s: %+v\n  runs: %v, as the text says: %v %v",
							by.how, strings.Join(o.Rules, ", "), o.Kind, o.Covers, o.Spares, o.Saved, n.kind, n.q.Needs, got, want, err)
					}
				}
			}
		}
	}
	t.Logf("%v, %d disagreements", counted, wrong)
	for _, kind := range []policy.OfferKind{policy.ExactOffer, policy.ToolOffer, policy.ProgramOffer, policy.FolderOffer, policy.ServerOffer} {
		if counted[string(kind)] == 0 {
			t.Errorf("no offer of the kind %s", kind)
		}
	}
}

// saved is a gate with the rules of an offer as the configuration holds them. It is nil where they
// are not saved.
func (w *world) saved(g RunPaths, o policy.Offer) *policy.Policy {
	var allow []string
	for _, r := range o.Rules {
		text := strings.TrimPrefix(r, "allow ")
		if parsed, err := policy.ParseRule(policy.Allow, policy.User, text); err != nil || parsed.String() != r {
			return nil
		}
		allow = append(allow, text)
	}
	return w.gate(g, nil, allow...)
}

// names looks for the names of a call in what an offer says.
func (w *world) names(o policy.Offer, n tool.Need) {
	w.t.Helper()
	if server, name, ok := strings.Cut(strings.TrimPrefix(n.Target, "mcp:"), " "); ok && n.Reach == tool.ServerTool &&
		(!strings.Contains(o.Covers, " the MCP server "+server+", ") || o.Kind == policy.ToolOffer && !strings.Contains(o.Covers, " the tool "+name+" of ")) {
		w.t.Errorf("%v does not say its names: %s", o.Rules, o.Covers)
	}
}

// one is one of some strings.
func (w *world) one(list ...string) string { return list[w.rng.IntN(len(list))] }

func asks(needs ...tool.Need) tool.Question { return tool.Question{Call: "c", Needs: needs} }

func runs(text, dir string) tool.Question {
	return asks(tool.Need{Permission: tool.Execute, Target: text, Dir: dir, Sandboxed: true, Separable: true})
}

func calls(server, name string) tool.Question {
	return asks(tool.Need{Permission: tool.Execute, Target: "mcp:" + server + " " + name, Reach: tool.ServerTool, Sends: `{"a":1}`})
}

// server is a call of a tool of an MCP server.
func (w *world) server() (tool.Question, []neighbour) {
	server := w.one("fs", "git", "my-notes", "a", "Fs", "x_y")
	name := w.one("write_file", "read_file", "read_files", "delete", "a", "resources", "Write_File", "list-all", "_")
	q := calls(server, name)
	other := calls(server, name)
	other.Needs[0].Sends = `{"path":"/etc/passwd","content":"` + w.one("x", "ü", "a b") + `"}`
	agent := calls(server, name)
	agent.Agent, agent.Origin = "helper", tool.FromText
	near := []neighbour{
		{"the same", q}, {"other arguments", other}, {"the same", agent},
		{"program of a name", runs("mcp:"+server+" "+name, "")}, {"program of a name", runs("mcp:"+server+" other", "")},
		{"program of a name", runs("sh -c 'mcp:"+server+" "+name+"'", "")}, {"other program", runs(server+" "+name, "")},
		{"other access", asks(tool.Need{Permission: tool.Write, Target: "mcp:" + server + " " + name})},
	}
	for _, tool := range []string{name + "s", name + "_2", "x" + name, swapped(name), strings.ReplaceAll(name, "_", "-") + "-", name[:len(name)-1] + "é"} {
		if name == "_" && tool == "é" {
			continue // one name in rules
		}
		near = append(near, neighbour{"other tool", calls(server, tool)})
	}
	if name != "resources" {
		near = append(near, neighbour{"resources", calls(server, "resources")})
	}
	for _, s := range []string{server + "s", server + "-2", "x" + server, swapped(server)} {
		near = append(near, neighbour{"other server", calls(s, name)}, neighbour{"other server", calls(s, "other")})
	}
	asked := calls(server, name)
	asked.Tool.Safety.RequiresApproval = true
	return q, append(near, neighbour{"approval each time", asked})
}

// swapped is a name in other letters, upper for lower.
func swapped(s string) string {
	if up := strings.ToUpper(s); up != s {
		return up
	}
	return strings.ToLower(s) + "0"
}

// program is what a command begins with, its subcommand, and an option with which it acts.
type program struct {
	name, sub string
	acts      string
	looks     bool
}

// command is a shell command of one program.
func (w *world) command() (tool.Question, []neighbour) {
	all := []program{
		{"go", "test", "-exec=./x", false}, {"go", "build", "-toolexec=./x", false}, {"npm", "run", "", false}, {"npm", "test", "", false}, {"cargo", "check", "--config=x", false},
		{"make", "all", "", false}, {"pytest", "", "", false}, {"mytool", "", "", false}, {"./run.sh", "", "", false}, {"eslint", "", "--fix", false}, {"gofmt", "", "-w", false},
		{"git", "commit", "", false}, {"git", "push", "", false}, {"rm", "", "", false}, {"curl", "", "-o", false}, {"kubectl", "get", "", false}, {"python3", "", "", false}, {"docker", "ps", "", false},
		{"cat", "", "", true}, {"head", "", "", true}, {"wc", "", "", true}, {"sort", "", "--output=x", true}, {"rg", "x", "--pre=./x", true},
	}
	p := all[w.rng.IntN(len(all))]
	outside := filepath.Dir(w.home) + "/lib/doc/one.txt"
	words := []string{p.name}
	if p.sub != "" {
		words = append(words, p.sub)
	}
	for range w.rng.IntN(3) {
		words = append(words, w.one("./...", "-v", "--all", "a b", "x'y", "ü", "*.go", "a=b", "$HOME", "README.md", "#", "-"))
	}
	if p.looks {
		words = append(words[:min(len(words), 2)], outside)
	}
	dir := w.one("", "", "sub", "src")
	text := quoted(words)
	q := runs(text, dir)
	job := q
	job.Needs = slices.Clone(q.Needs)
	job.Needs[0].OutlivesCall, job.Needs[0].Separable = true, false
	leaves := runs(text, dir)
	leaves.Needs[0].OutsideReason = "it needs a network"
	approval := runs(text, dir)
	approval.Tool.Safety.RequiresApproval = true
	somewhere := map[string]string{"": "sub", "sub": "src", "src": ""}[dir]
	into := map[string]string{"": "cd sub", "sub": "cd ../src", "src": "cd .."}[dir]
	near := []neighbour{
		{"the same", runs(text, dir)}, {"the same", runs("  "+text+"  ", dir)}, {"the same", runs(text+" && "+text, dir)}, {"the same, a job", job},
		{"other folder", runs(text, somewhere)}, {"other folder", runs(into+" && "+text, dir)}, {"other folder", runs("("+into+"; "+text+")", dir)},
		{"other arguments", runs(text+" more", dir)}, {"other arguments", runs(text+" 'ö x'", dir)}, {"other arguments", runs(text+" "+text, dir)},
		{"harmless variable", runs("CI=1 "+text, dir)},
		{"risky variable", runs("LD_PRELOAD=./x.so "+text, dir)}, {"risky variable", runs("export PATH=.; "+text, dir)}, {"risky variable", runs("GIT_SSH_COMMAND=./x "+text, dir)},
		{"behind a wrapper", runs("nohup "+text, dir)}, {"behind a wrapper", runs("timeout 5 "+text, dir)}, {"behind a wrapper", runs("env CI=1 "+text, dir)}, {"behind a wrapper", runs("nice "+text, dir)},
		{"behind a shell", runs("sudo "+text, dir)}, {"behind a shell", runs("sh -c "+quoted([]string{text}), dir)}, {"behind a shell", runs("bash -c "+quoted([]string{text}), dir)},
		{"behind a shell", runs("eval "+text, dir)},
		{"beside another", runs(text+" && touch x", dir)}, {"beside another", runs(text+"; other", dir)}, {"beside another", runs(text+" > /etc/made.txt", dir)}, {"beside another", runs("$(other) && "+text, dir)},
		{"other program", runs("./"+text, dir)}, {"other program", runs(swapped(p.name)+text[len(p.name):], dir)}, {"other program", runs("x"+text, dir)},
		{"other program", runs(strings.Replace(text, p.name[:1], "а", 1), dir)}, // a Cyrillic letter
		{"outside", leaves}, {"approval each time", approval},
		{"tool of a name", calls(p.name, p.sub)}, {"other access", asks(tool.Need{Permission: tool.Write, Target: text})},
	}
	if p.name == "./run.sh" { // with ./ before it, it is itself
		near = slices.DeleteFunc(near, func(n neighbour) bool { return strings.HasPrefix(n.q.Needs[0].Target, "././") })
	}
	if p.sub != "" && !p.looks {
		near = append(near, neighbour{"other subcommand", runs(quoted([]string{p.name, "other"}), dir)}, neighbour{"other subcommand", runs(quoted([]string{p.name, p.sub + "x"}), dir)})
	}
	if p.acts != "" && (w.mode == "ask" || !strings.Contains("--fix -w -o --output=x", p.acts)) { // else the files may be written anyway
		near = append(near, neighbour{"acting option", runs(quoted([]string{p.name, p.sub, p.acts}), dir)}, neighbour{"acting option", runs(quoted([]string{p.name, p.sub, p.acts, "x"}), dir)})
	}
	if p.looks {
		near = append(near, neighbour{"secret read by it", runs(quoted(append(slices.Clone(words), w.home+"/.ssh/id_ed25519")), dir)}, neighbour{"secret read by it", runs(text+" .env", "")})
	}
	return q, near
}

// quoted writes words for a shell.
func quoted(words []string) string {
	var out []string
	for _, word := range words {
		if word == "" {
			continue
		}
		if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-") != "" {
			word = "'" + strings.ReplaceAll(word, "'", `'"'"'`) + "'"
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

// file is a read or a write of a file.
func (w *world) file() (tool.Question, []neighbour) {
	lib := filepath.Dir(w.home) + "/lib"
	kind, other := tool.Write, tool.Read
	name := w.one("src/a.go", "src/deep/b.go", "README.md", "src/.envrc", "docs/ü.md", "src/new file.go", "src/[x].go", lib+"/doc/one.txt", lib+"/doc/new.txt", "~/notes/a.txt")
	if w.rng.IntN(2) == 0 {
		kind, other = other, kind
		name = w.one(".env", "src/.env", lib+"/doc/one.txt", lib+"/doc/deep/two.txt", lib+"/doc", lib+"/other.txt", "~/notes/a.txt", w.home+"/.ssh/id_ed25519")
	}
	return w.beside(kind, other, name)
}

// beside are the neighbours of one kind of access to a file.
func (w *world) beside(kind, other tool.Permission, name string) (tool.Question, []neighbour) {
	need := func(kind tool.Permission, name string) tool.Question {
		return asks(tool.Need{Permission: kind, Target: name})
	}
	folder, lib := filepath.Dir(name), filepath.Dir(w.home)+"/lib"
	near := []neighbour{
		{"the same", need(kind, name)}, {"the same", need(kind, folder+"/./"+filepath.Base(name))},
		{"other access", need(other, name)}, {"other program", runs("other "+quoted([]string{name}), "")},
		{"file below", need(kind, folder+"/brand new.txt")}, {"file below", need(kind, name+"2")}, {"file below", need(kind, folder+"/x/y/z.txt")}, {"file below", need(kind, folder+"/"+swapped(filepath.Base(name)))},
		{"file below", need(kind, name+"/x")}, {"file below", need(kind, folder+"/u\u0308.md")},
		{"secret below", need(kind, folder+"/deep/.env")}, {"acting file below", need(kind, folder+"/deep/.gitattributes")}, {"protected below", need(tool.Write, folder+"/.git/hooks/pre-commit")},
		{"other file", need(kind, folder+"2/new.txt")}, {"other file", need(kind, folder+"/../other2.txt")}, {"other file", need(kind, "/etc/passwd")}, {"other file", need(kind, lib+"/../x.txt")},
	}
	asked := need(kind, name)
	asked.Tool.AllowNoSchema = true
	return need(kind, name), append(near, neighbour{"approval each time", asked})
}

// address is a page.
func (w *world) address() (tool.Question, []neighbour) {
	need := func(url string) tool.Question { return asks(tool.Need{Permission: tool.Network, Target: url}) }
	scheme, other := "https", "http"
	if w.rng.IntN(3) == 0 {
		scheme, other = other, scheme
	}
	host := w.one("example.com", "docs.example.com", "a-b.test", "127.0.0.1", "localhost", "[::1]", "xn--bcher-kva.example")
	port := w.one("", "", ":8080", ":443", ":80")
	at := scheme + "://" + host + port
	near := []neighbour{
		{"the same", need(at + "/a?b=c")}, {"other page", need(at + "/x/y")}, {"other page", need(strings.ToUpper(at) + "/x")},
		{"other host", need(scheme + "://other.test" + port)}, {"other host", need(scheme + "://x" + strings.Trim(host, "[]") + ".com" + port)}, {"other host", need(scheme + "://example.org@evil.test" + port)},
		{"other port", need(scheme + "://" + host + ":8081")}, {"other access", asks(tool.Need{Permission: tool.Write, Target: at})}, {"other program", runs("curl "+at, "")},
	}
	if strings.Trim(host, "0123456789.[:]") != "" {
		near = append(near, neighbour{"host below", need(scheme + "://sub." + host + port)}, neighbour{"other host", need(scheme + "://" + host + ".evil.test" + port)})
	}
	if port != ":80" && port != ":443" { // which is the usual port of one of them
		near = append(near, neighbour{"other scheme", need(other + "://" + host + port)})
	}
	return need(at), near
}

// several is a call of more than one need.
func (w *world) several() (tool.Question, []neighbour) {
	first := asks(tool.Need{Permission: tool.Write, Target: "src/a.go"})
	q := asks(tool.Need{Permission: tool.Write, Target: "src/a.go"}, tool.Need{Permission: tool.Write, Target: "src/deep/b.go"})
	near := []neighbour{{"the same", q}, {"the same", first}, {"other file", asks(q.Needs[0], tool.Need{Permission: tool.Write, Target: "README.md"})}}
	if w.rng.IntN(2) == 0 {
		text := w.one("go test", "make all", "pytest") + " | " + w.one("mytool x", "eslint .")
		q = runs(text+" > made.txt", "")
		alone, _, _ := strings.Cut(text, " | ")
		near = []neighbour{{"the same", q}, {"the same", runs(alone, "")}, {"beside another", runs(text+" > other.txt && other", "")}, {"other folder", runs(alone, "sub")}, {"other program", runs("other", "")}}
	}
	return q, near
}
