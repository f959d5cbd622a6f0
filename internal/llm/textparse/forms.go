package textparse

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"adze/tool"
)

// verdict is what a form says about a block.
type verdict int

// Verdicts.
const (
	wait verdict = iota // it is not at its end
	no                  // it is text
	yes                 // it is calls
)

// reading is what came of reading a block; the last rest bytes do not belong to it.
type reading struct {
	verdict   verdict
	calls     []found
	reasoning string
	rest      int
}

// form is one way in which models write calls.
type form struct {
	opens []string // how it begins
	// line says that it begins on a line of its own, weak that only space and other blocks may
	// follow.
	line, weak bool
	closes     []string // where to look whether it is whole
	balanced   bool     // look where all brackets are closed
	// probe judges the beginning after the opening: false when no offered tool can come of it.
	probe func(s *scanner, rest string) bool
	// read judges the whole. It must not change its mind about a block that it has refused or
	// taken.
	read func(s *scanner, held string) reading
}

// forms are the markups, by family.
func forms() []form {
	list := []form{
		{opens: []string{"<tool_call>"}, closes: []string{"</tool_call>", "<tool_call>"}, probe: probeTagged, read: readTagged},
		{opens: []string{"<function="}, closes: []string{"</function>"}, probe: probeFunction, read: readFunction},
		{opens: []string{"[TOOL_CALLS]"}, balanced: true, probe: probeMistral, read: readMistral},
		{opens: []string{"<|python_tag|>"}, balanced: true, read: readPythonTag},
		{opens: tokens(beginCalls, beginCall), closes: tokens(endCalls, endCall), read: readDeepSeek},
		{opens: kimiOpens(), closes: kimiCloses(), read: readKimi},
		{opens: []string{"<|channel|>", "<|start|>"}, closes: harmonyEnds(), read: readHarmony},
		{opens: invokeOpens(), closes: invokeCloses(), probe: probeInvoke, read: readInvoke},
		{opens: gemmaOpens(), closes: gemmaCloses(), probe: probeGemma, read: readGemma},
		{opens: []string{"<|tool_call|>"}, balanced: true, probe: probeListed, read: readListed("<|tool_call|>")},
		{opens: []string{"<|START_ACTION|>"}, closes: []string{endAction}, probe: probeListed, read: readAction},
		{opens: []string{"functools"}, line: true, balanced: true, probe: probeListed, read: readListed("functools")},
		{opens: []string{"Action:"}, line: true, weak: true, closes: []string{"```", "}"}, probe: probeAction, read: readActionForm},
		{opens: []string{"```"}, line: true, weak: true, closes: []string{"```"}, probe: probeFence, read: readFence},
		{opens: []string{"{"}, line: true, weak: true, balanced: true, probe: probeObject, read: readBare},
		{opens: []string{"["}, line: true, weak: true, balanced: true, probe: probeList, read: readList},
		{opens: []string{gigaChat}, line: true, balanced: true, probe: probeListed, read: readListed(gigaChat)},
		{opens: thoughtEnds(), closes: thoughtEnds(), read: thoughtEnd},
		{opens: []string{solarOpen, solarAll + solarOpen}, closes: []string{solarEnd}, read: readSolar},
	}
	for _, e := range enclosures() {
		list = append(list, form{opens: []string{e.open}, closes: []string{e.close}, probe: probeBody, read: e.read})
	}
	for _, mark := range strays() {
		list = append(list, form{opens: []string{mark}, closes: []string{mark}, read: stray})
	}
	return list
}

// strays are marks that say nothing where markup came before them: ends without their beginning,
// and the tokens with which messages end, which some servers print.
func strays() []string {
	out := append([]string{"</tool_call>", "</tool_calls>", "</function_calls>", "</seed:tool_call>", "</minimax:tool_call>",
		"<|end|>", "<|return|>", "<|call|>", "<|/tool_call|>", "<|python_end|>", kimiEnd, "<|message_sep|>"}, tokens(endCalls)...)
	return append(out, endTokens()...)
}

// endTokens are those with which messages end.
func endTokens() []string {
	return []string{"<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|eom|>", "<|eot|>", "<|endoftext|>", "<|end_of_text|>", "<|end_of_turn|>", "<end_of_turn>", "</s>", "[|endofturn|]", "<|role_end|>", "<|END_OF_TURN_TOKEN|>", "<eos>",
		"<｜end▁of▁sentence｜>", "<|observation|>", "<|user|>", "<start_function_response>"}
}

// ends reports whether a block may be whole here.
func (f *form) ends(held []byte, b balance) bool {
	if f.balanced && b.closed() {
		return f.begun(held)
	}
	last := held[len(held)-1]
	return slices.ContainsFunc(f.closes, func(c string) bool {
		return c[len(c)-1] == last && bytes.HasSuffix(held, []byte(c))
	}) && f.begun(held)
}

// begun reports whether the whole opening is there.
func (f *form) begun(held []byte) bool {
	return slices.ContainsFunc(f.opens, func(o string) bool { return bytes.HasPrefix(held, []byte(o)) })
}

// stray takes an end mark without a beginning, when there was markup before it; else it is text.
func stray(s *scanner, _ string) reading {
	if len(s.blocks) > 0 {
		return reading{verdict: yes}
	}
	return reading{verdict: no}
}

// tools are what a call may name. They are put in order by name at the first look: most answers
// have no text that could be a call.
type tools struct {
	list []tool.Definition
	by   map[string]*offered
}

// offered is a tool with the kinds of its arguments, which are read when first needed.
type offered struct {
	schema json.RawMessage
	kinds  map[string]kinds
	read   bool
}

// all are the tools by their names.
func (t *tools) all() map[string]*offered {
	if t.by == nil {
		t.by = map[string]*offered{}
		for _, d := range t.list {
			o := &offered{schema: d.Parameters}
			t.by[d.Name] = o
			for _, name := range d.Aliases {
				t.by[name] = o
			}
		}
	}
	return t.by
}

// named is the tool with a name; if nil, there is none.
func (t *tools) named(name string) *offered { return t.all()[name] }

// starts reports whether an offered name begins so.
func (t *tools) starts(prefix string) bool {
	for name := range t.all() {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// all is the reading of calls that must all be offered.
func (s *scanner) all(calls []found, ok bool) reading {
	if !ok || len(calls) == 0 {
		return reading{verdict: no}
	}
	for _, c := range calls {
		if s.tools.named(c.name) == nil {
			return reading{verdict: no}
		}
	}
	return reading{verdict: yes, calls: calls}
}
