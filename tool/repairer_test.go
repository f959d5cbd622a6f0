package tool_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"adze/tool"
)

// rewriter is a Repairer that answers what it was told and remembers what it was asked.
type rewriter struct {
	answer string
	err    error
	asked  []tool.Broken
}

func (w *rewriter) Repair(_ context.Context, b tool.Broken) (string, error) {
	w.asked = append(w.asked, b)
	if w.answer == "panic" {
		panic("the model is gone")
	}
	return w.answer, w.err
}

func withRepairer(w tool.Repairer) *tool.Runner {
	r := allowing()
	r.Repairer = w
	return r
}

func TestRepairerIsAskedOnceWhereNoRuleApplies(t *testing.T) {
	set := corpusSet(t)
	for name, c := range map[string]struct {
		tool, before, answer, after string // after "" where the answer is refused
	}{
		"unescaped quotes":       {"write", `{"path":"a","content":"say "hi" now"}`, `{"path":"a","content":"say \"hi\" now"}`, `{"path":"a","content":"say \"hi\" now"}`},
		"a missing comma":        {"read", `{"path":"a" "limit":3}`, `{"path":"a","limit":3}`, `{"path":"a","limit":3}`},
		"a missing quote pair":   {"read", `{"path":a.go}`, `{"path":"a.go"}`, `{"path":"a.go"}`},
		"another value":          {"write", `{"path":"a","content":"say "hi""}`, `{"path":"a","content":"say \"ho\""}`, ""},
		"a value shortened":      {"write", `{"path":"a","content":"say "hi""}`, `{"path":"a","content":"say "}`, ""},
		"a value lengthened":     {"write", `{"path":"a","content":"say "hi""}`, `{"path":"a","content":"say \"hi\" again"}`, ""},
		"values exchanged":       {"write", `{"path":"a","content":"say "hi""}`, `{"path":"say \"hi\"","content":"a"}`, ""},
		"spaces taken out":       {"write", `{"path":"a","content":"rm "x" y"}`, `{"path":"a","content":"rm\"x\"y"}`, ""},
		"a number joined":        {"read", `{"path":"a" "limit":1 0}`, `{"path":"a","limit":10}`, ""},
		"an answer with remarks": {"read", `{"path":"a" "limit":3}`, "Here:\n{\"path\":\"a\",\"limit\":3}", ""},
		"an answer in a fence":   {"read", `{"path":"a" "limit":3}`, "```json\n{\"path\":\"a\",\"limit\":3}\n```", ""},
		"no object":              {"read", `{"path":"a" "limit":3}`, `["path","a","limit",3]`, ""},
		"a fault of the schema":  {"read", `{"path":"a" "limit":0}`, `{"path":"a","limit":0}`, ""},
		"nothing":                {"read", `{"path":"a" "limit":3}`, ``, ""},
		"a panic":                {"read", `{"path":"a" "limit":3}`, `panic`, ""},
	} {
		w := &rewriter{answer: c.answer}
		h := withRepairer(w).Hydrate(t.Context(), set, []tool.RawCall{{ID: "c", Name: c.tool, Arguments: c.before}})[0]
		if len(w.asked) != 1 || w.asked[0].Arguments != c.before || w.asked[0].Tool.Name != c.tool || len(w.asked[0].Faults) != 1 || w.asked[0].Faults[0].Detail != "" {
			t.Errorf("%s: asked %+v", name, w.asked)
		}
		provenanceHolds(t, name, h)
		if h.OK != (c.after != "") || string(h.Provenance.Validated) != c.after {
			t.Errorf("%s: %t %s %v", name, h.OK, h.Provenance.Validated, h.Errors)
		}
		if h.OK && h.Provenance.Repair.Kind != "model" {
			t.Errorf("%s: kind %s", name, h.Provenance.Repair.Kind)
		}
		if !h.OK && h.Errors[0].Code != tool.CodeInvalidJSON {
			t.Errorf("%s: the original's fault is gone: %+v", name, h.Errors)
		}
	}
}

func TestRepairerIsNotAsked(t *testing.T) {
	set := corpusSet(t)
	for name, before := range map[string]string{
		"valid":                      `{"path":"a"}`,
		"a rule applied":             `{'path':'a'}`,
		"a rule applied in vain":     `{'path':'a','limit':'x'}`,
		"JSON that does not fit":     `{"path":3,"other":true}`,
		"cut in a string":            `{"path":"a`,
		"cut after a string":         `{"path":"a"`,
		"cut within, and braces fit": `{"path":"{a}`,
		"cut after a nested object":  `{"path":{"a":1}`,
		"cut in a list":              `{"path":"a" "x":[1,2}`,
		"cut in a fence":             "```json\n{\"path\":\"a\" \"b\"",
	} {
		w := &rewriter{answer: `{"path":"a"}`}
		h := withRepairer(w).Hydrate(t.Context(), set, []tool.RawCall{{ID: "c", Name: "read", Arguments: before}})[0]
		if len(w.asked) != 0 {
			t.Errorf("%s: asked about %s", name, before)
		}
		if strings.HasPrefix(name, "cut") && h.OK {
			t.Errorf("%s: runs as %s", name, h.Provenance.Validated)
		}
	}
}

func TestRepairerThatFailsChangesNothing(t *testing.T) {
	w := &rewriter{answer: `{"path":"a","limit":3}`, err: errors.New("no answer")}
	h := withRepairer(w).Hydrate(t.Context(), corpusSet(t), []tool.RawCall{{ID: "c", Name: "read", Arguments: `{"path":"a" "limit":3}`}})[0]
	if h.OK || h.Provenance.Repair != nil || h.Provenance.Origin != tool.Native || len(w.asked) != 1 {
		t.Errorf("%+v", h)
	}
}

func TestGateKnowsWhatWasMended(t *testing.T) {
	for arguments, mended := range map[string]bool{`{"path":"a"}`: false, `{'path':'a'}`: true} {
		var asked tool.Question
		r := &tool.Runner{Gate: tool.GateFunc(func(_ context.Context, q tool.Question) (tool.Decision, error) {
			asked = q
			return tool.Decision{Allow: true}, nil
		})}
		o := r.Exec(t.Context(), hydrateNamed(t, corpusSet(t), "read", arguments))
		if o.Status != tool.Completed || asked.Repaired != mended || (asked.Origin == tool.Repaired) != mended || !asked.Validated {
			t.Errorf("%s: %s, asked %+v", arguments, o.Status, asked)
		}
		if (o.Record.Repair != "") != mended {
			t.Errorf("%s: record %+v", arguments, o.Record)
		}
	}
}
