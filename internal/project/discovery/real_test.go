package discovery_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"adze/internal/project/discovery"
)

// ask gives documents to a parser in Python and returns what it reads; null for one that it
// refuses.
func ask(t *testing.T, module, program string, docs []string) []map[string]any {
	t.Helper()
	if exec.Command("python3", "-c", "import "+module).Run() != nil {
		t.Skip("python3 has no module " + module)
	}
	raw, err := json.Marshal(docs)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("python3", "-c", program)
	cmd.Stdin = strings.NewReader(string(raw))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var answers []map[string]any
	if err := json.Unmarshal(out, &answers); err != nil || len(answers) != len(docs) {
		t.Fatal(err, len(answers))
	}
	return answers
}

const askYAML = `
import json, sys, yaml
out = []
for doc in json.load(sys.stdin):
    try:
        d = yaml.load(doc, Loader=yaml.BaseLoader)
        out.append(d if isinstance(d, dict) else None)
    except Exception:
        out.append(None)
print(json.dumps(out))
`

// Where YAML takes a text, it is read as YAML reads it.
func TestFrontMatterAgreesWithYAML(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var docs []string
	for range 800 {
		docs = append(docs, document(r))
	}
	compared := 0
	for n, want := range ask(t, "yaml", askYAML, docs) {
		if want == nil {
			continue
		}
		front, _ := discovery.Parse("---\n" + docs[n] + "---\n")
		for key, value := range want {
			field, _ := front.Field(key)
			switch v := value.(type) {
			case string:
				if got := strings.Trim(field.Text, "\n"); got != strings.Trim(strings.TrimRight(v, " \n"), "\n") && got != strings.Trim(v, "\n") {
					t.Fatalf("%s is %q, YAML reads %q, of\n%s", key, got, v, docs[n])
				}
			case []any:
				if got := field.List(); fmt.Sprint(got) != fmt.Sprint(v) {
					t.Fatalf("%s is %q, YAML reads %q, of\n%s", key, got, v, docs[n])
				}
			}
			compared++
		}
	}
	if compared < 1200 {
		t.Fatalf("only %d values were compared", compared)
	}
}

// document is front matter as it may be written.
func document(r *rand.Rand) string {
	words := func(n int) string {
		pool := []string{"use", "when", "a:b", "it's", "tests", "x#y", "\u00e9t\u00e9", "(see", "below)", "*", "&c", "50%", "--all", "`ls`", "<a>", "\"q\""}
		var out []string
		for range 1 + r.IntN(n) {
			out = append(out, pool[r.IntN(len(pool))])
		}
		return "w " + strings.Join(out, " ")
	}
	value := func() string {
		switch r.IntN(9) {
		case 0:
			return " " + words(5) + " # said"
		case 1:
			return " \"" + strings.ReplaceAll(words(4), `"`, `\"`) + ": x\\n\\ty\""
		case 2:
			return " '" + strings.ReplaceAll(words(4), "'", "''") + " # kept'"
		case 3:
			return " |\n  " + words(4) + "\n    " + words(3) + "\n\n  " + words(3)
		case 4:
			return " >-\n  " + words(4) + "\n  " + words(3) + "\n\n  " + words(3) + "\n  " + words(2)
		case 5:
			return " " + words(4) + "\n  " + words(3)
		case 6:
			return " [one, 'two, 2', \"three\"]"
		case 7:
			return "\n  - one\n  - 'two: 2'\n  - three # said"
		}
		return " " + words(6)
	}
	var b strings.Builder
	for n := range 1 + r.IntN(4) {
		fmt.Fprintf(&b, "key%d:%s\n", n, value())
	}
	return b.String()
}
