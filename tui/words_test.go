package tui

import (
	"slices"
	"strings"
	"testing"
)

// The words that people know from other assistants are commands here, or say where what they name
// is.
func TestWordsOfOthersAreKnown(t *testing.T) {
	p := newPlayer(t, nil)
	*p.m.ports = p.ports()
	for name := range strings.FieldsSeq(`add add-dir agents bashes branch bug clear commit compact config continue context cost diff doctor editor exit export fork
		help history hooks image init login logout mcp memory model models new permissions plan plugins provider q queue quit release-notes reset resume
		review rewind run save sessions settings share skills stats status subagents theme thinking tokens tools undo usage vim`) {
		full, w, ok := p.m.commander.resolve(name)
		if !ok || w.explanation == "" && !slices.Contains(bare().commander.names(), full) {
			t.Errorf("/%s: %q, %+v", name, full, w)
		}
	}
}

// Every row of the table names one thing, once, and leads to a command that there is.
func TestTheWordsAreWhole(t *testing.T) {
	p := newPlayer(t, nil)
	seen := map[string]bool{}
	for _, w := range p.m.commander.words() {
		if (w.command == "") == (w.explanation == "") || w.command != "" && !slices.Contains(bare().commander.names(), w.command) {
			t.Errorf("%+v leads nowhere, or to two places", w)
		}
		for n := range strings.FieldsSeq(w.names) {
			if seen[n] || slices.Contains(bare().commander.names(), n) {
				t.Errorf("/%s is there twice", n)
			}
			seen[n] = true
		}
	}
}

// What is begun means a command before a word of others, and several mean none.
func TestTheBeginningOfAWord(t *testing.T) {
	p := newPlayer(t, nil)
	for name, want := range map[string]string{"them": "theme", "mo": "", "exi": "quit", "dif": "changes", "e": "", "zzz": "", "permi": "mode", "mode": "mode", "pl": "plan"} {
		if full, _, _ := p.m.commander.resolve(name); full != want {
			t.Errorf("/%s means %q, want %q", name, full, want)
		}
	}
}
