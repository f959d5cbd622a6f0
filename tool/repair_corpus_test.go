package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/testkit/golden"
	"adze/tool"
)

// TestRepairCorpus runs testdata/repair: what models write, by family. A case is a section named
// tool/what it shows; its want says what becomes of it: accepted, understood or repaired by which
// steps, or refused with which code and where, and then the arguments that the tool gets.
func TestRepairCorpus(t *testing.T) {
	set := corpusSet(t)
	counts := map[string]int{}
	golden.Cases(t, filepath.Join("..", "testdata", "repair"), func(t *testing.T, c *golden.Case) {
		family := map[string]int{}
		for _, name := range c.Sections("") {
			if strings.HasPrefix(name, "want.") {
				continue
			}
			arguments, _ := c.Section(name)
			id, _, _ := strings.Cut(name, "/")
			h := hydrateNamed(t, set, id, strings.TrimSuffix(arguments, "\n"))
			got := summary(h)
			verdict, _, _ := strings.Cut(strings.TrimSpace(got), " ")
			verdict, _, _ = strings.Cut(verdict, "\n")
			family[verdict]++
			counts[verdict]++
			if _, judged := c.Section("want." + name); !judged {
				t.Errorf("%s has no want", name)
			}
			c.Want(t, "want."+name, got)
			provenanceHolds(t, name, h)
		}
		t.Logf("accepted %d, understood %d, repaired %d, refused %d", family["accepted"], family["understood"], family["repaired"], family["refused"])
	})
	total := counts["accepted"] + counts["understood"] + counts["repaired"] + counts["refused"]
	t.Logf("%d cases: accepted %d, understood %d, repaired %d, refused %d", total, counts["accepted"], counts["understood"], counts["repaired"], counts["refused"])
	if total < 200 {
		t.Errorf("the corpus has %d cases", total)
	}
}

// hydrateNamed hydrates one call of a named tool.
func hydrateNamed(t testing.TB, set *tool.Set, name, arguments string) tool.Hydration {
	t.Helper()
	return allowing().Hydrate(t.Context(), set, []tool.RawCall{{ID: "c", Name: name, Arguments: arguments}})[0]
}

// summary is a hydration in the words of the corpus.
func summary(h tool.Hydration) string {
	var b strings.Builder
	repair, verb := h.Provenance.Repair, "repaired "
	if h.Provenance.Dialect != nil {
		repair, verb = h.Provenance.Dialect, "understood "
	}
	switch {
	case !h.OK:
		b.WriteString("refused " + h.Errors[0].Code)
		for _, f := range h.Errors {
			if f.Path != "" {
				b.WriteString(" " + strings.ReplaceAll(f.Path, "\n", `\n`))
			}
		}
	case repair == nil:
		b.WriteString("accepted")
	default:
		b.WriteString(verb + repair.Kind)
		for _, path := range repair.Dropped {
			b.WriteString("\ndropped " + path)
		}
	}
	if h.OK {
		b.WriteString("\n" + string(h.Provenance.Validated))
	}
	return b.String() + "\n"
}

// provenanceHolds checks what is true of every hydration.
func provenanceHolds(t *testing.T, name string, h tool.Hydration) {
	t.Helper()
	p := h.Provenance
	switch {
	case h.OK != (len(h.Errors) == 0) || h.OK != (p.Validated != nil):
		t.Errorf("%s: ok %t, errors %v, validated %s", name, h.OK, h.Errors, p.Validated)
	case p.Repair == nil && p.Dialect == nil && p.Origin != tool.Native:
		t.Errorf("%s: origin %s without a repair", name, p.Origin)
	case p.Repair != nil && p.Dialect != nil:
		t.Errorf("%s: repaired and in another dialect", name)
	case p.Dialect != nil && (p.Origin != tool.Alias || p.Dialect.Before != p.Original || string(p.Dialect.After) != string(p.Parsed)):
		t.Errorf("%s: %+v", name, p)
	case p.Repair != nil && (p.Origin != tool.Repaired || p.Repair.Before != p.Original || string(p.Repair.After) != string(p.Parsed)):
		t.Errorf("%s: %+v", name, p)
	}
}

type (
	corpusRead struct {
		Path   string `json:"path"`
		Offset int    `json:"offset,omitempty" min:"1"`
		Limit  int    `json:"limit,omitempty" min:"1"`
	}
	corpusWrite struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	}
	corpusEdit struct {
		Path       string `json:"path"`
		OldString  string `json:"old_string,omitempty"`
		NewString  string `json:"new_string,omitempty"`
		ReplaceAll bool   `json:"replace_all,omitempty"`
		Edits      []struct {
			OldString string `json:"old_string"`
			NewString string `json:"new_string"`
		} `json:"edits,omitempty"`
	}
	corpusBash struct {
		Command     string  `json:"command"`
		Description string  `json:"description,omitempty"`
		Timeout     float64 `json:"timeout,omitempty" min:"0" max:"600"`
		Background  bool    `json:"background,omitempty"`
	}
	corpusGrep struct {
		Pattern    string   `json:"pattern"`
		Path       string   `json:"path,omitempty"`
		Include    []string `json:"include,omitempty"`
		IgnoreCase bool     `json:"ignore_case,omitempty"`
		Mode       string   `json:"mode,omitempty" enum:"content,files,count"`
		Limit      int      `json:"limit,omitempty"`
	}
	corpusTodo struct {
		Todos []struct {
			Content  string `json:"content"`
			Status   string `json:"status" enum:"pending,in_progress,completed"`
			Priority string `json:"priority,omitempty" enum:"high,low"`
		} `json:"todos"`
	}
	corpusPlot struct {
		Points []float64 `json:"points"`
		Labels []string  `json:"labels,omitempty"`
		Title  string    `json:"title,omitempty"`
	}
)

// fetchSchema is written the way generators write schemas for tool servers: choices with null,
// references, open objects.
const fetchSchema = `{"type":"object","properties":{"url":{"type":"string"},
	"retries":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null,"title":"Retries"},
	"headers":{"type":"object","properties":{"content_type":{"type":"string"}},"additionalProperties":{"type":"string"}},
	"options":{"allOf":[{"$ref":"#/$defs/Options"}]}},
	"required":["url"],"$defs":{"Options":{"type":"object","properties":{"depth":{"type":"integer"}}}}}`

// corpusTool is a tool that takes what its schema takes.
func corpusTool[Args any](id string, p tool.Permission, aliases map[string]string) tool.Tool {
	return tool.Define(id, tool.Config[Args, sayMeta]{
		Permissions: tool.Requires(p), Redact: tool.Expose(), Compat: tool.Compat{Args: aliases}, Aliases: []string{id + "_file"},
		Run: func(context.Context, tool.Context[sayMeta], Args) (r tool.Result[sayMeta], err error) { return r, nil },
	})
}

func corpusSet(t testing.TB) *tool.Set {
	t.Helper()
	set, err := corpusRegistry(t).Tools(context.Background(), tool.Init{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func corpusRegistry(t testing.TB) *tool.Registry {
	t.Helper()
	fetch := tool.Define("fetch", tool.Config[map[string]any, sayMeta]{
		Parameters: json.RawMessage(fetchSchema), Permissions: tool.Requires(tool.Network), Redact: tool.Expose(),
		Run: func(context.Context, tool.Context[sayMeta], map[string]any) (r tool.Result[sayMeta], err error) {
			return r, nil
		},
	})
	file := map[string]string{"file_path": "path", "filename": "path"}
	r := &tool.Registry{}
	for _, one := range []tool.Tool{
		corpusTool[corpusRead]("read", tool.Read, file),
		corpusTool[corpusWrite]("write", tool.Write, map[string]string{"contents": "content"}),
		corpusTool[corpusEdit]("edit", tool.Write, map[string]string{"old_str": "old_string", "search": "old_string", "new_str": "new_string"}),
		corpusTool[corpusBash]("bash", tool.Execute, map[string]string{"cmd": "command"}),
		corpusTool[corpusGrep]("grep", tool.Read, nil),
		corpusTool[corpusTodo]("todo", tool.Read, nil),
		corpusTool[corpusPlot]("plot", tool.Read, nil),
		corpusTool[struct{}]("none", tool.Read, nil),
		fetch,
	} {
		if err := r.Register(one); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// TestRepairIsFinal: what a repair made is valid as it stands and is not touched again.
func TestRepairIsFinal(t *testing.T) {
	set := corpusSet(t)
	repaired := 0
	golden.Cases(t, filepath.Join("..", "testdata", "repair"), func(t *testing.T, c *golden.Case) {
		for _, name := range c.Sections("") {
			arguments, _ := c.Section(name)
			id, _, _ := strings.Cut(name, "/")
			first := hydrateNamed(t, set, id, strings.TrimSuffix(arguments, "\n"))
			if strings.HasPrefix(name, "want.") || !first.OK {
				continue
			}
			again := hydrateNamed(t, set, id, string(first.Provenance.Validated))
			if !again.OK || again.Provenance.Repair != nil || again.Provenance.Dialect != nil || string(again.Provenance.Validated) != string(first.Provenance.Validated) {
				t.Errorf("%s: %s", name, fmt.Sprint(again.Errors, again.Provenance.Repair))
			}
			if first.Provenance.Repair != nil || first.Provenance.Dialect != nil {
				repaired++
			}
		}
	})
	if repaired < 80 {
		t.Errorf("only %d repairs were seen", repaired)
	}
}
